import Glibc

func logarithm(_ value: Double) -> Double { log(value) }

func exponential(_ power: Double) -> Double { exp(power) }
