import CommandLineKit
import Glibc

StandardStreams.ignoreBrokenPipes()
exit(Program.run(Array(CommandLine.arguments.dropFirst()), streams: StandardStreams()).rawValue)
