// swift-tools-version: 6.0
import PackageDescription

// Measures the library from within a program that uses it: what a query costs, without the start of a program and without a server.
let package = Package(
    name: "LibraryBench",
    dependencies: [.package(name: "vitalgate", path: "../../..")],
    targets: [
        .executableTarget(
            name: "LibraryBench",
            dependencies: [
                .product(name: "HealthStore", package: "vitalgate"), .product(name: "HealthModel", package: "vitalgate"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
