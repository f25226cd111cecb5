// swift-tools-version: 6.0
import PackageDescription

// A program of somebody else, which knows the hub over HTTP alone.
let package = Package(
    name: "APIClient",
    targets: [.executableTarget(name: "APIClient")],
    swiftLanguageModes: [.v6]
)
