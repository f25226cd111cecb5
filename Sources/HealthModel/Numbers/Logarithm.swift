import Glibc

/// The natural logarithm.
func logarithm(_ value: Double) -> Double { log(value) }

/// The exponential function.
func exponential(_ power: Double) -> Double { exp(power) }
