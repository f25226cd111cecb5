import CommandLineKit
import Glibc
import Hub

StandardStreams.ignoreBrokenPipes()
let isMemoryLimited = MemoryLimit.apply()
if !isMemoryLimited { StandardStreams().note("vitalgate: the memory limit of this process could not be set", priority: .warning) }
exit(Program.run(Array(CommandLine.arguments.dropFirst()), streams: StandardStreams()).rawValue)
