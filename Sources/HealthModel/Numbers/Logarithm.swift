import Glibc

/// The natural logarithm.
func logarithm(_ value: Double) -> Double { log(value) }

/// e to a power.
func exponential(_ power: Double) -> Double { exp(power) }
