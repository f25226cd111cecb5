// swift-tools-version: 6.0
import PackageDescription

// A program of somebody else: it knows the library by its products, and nothing of what is behind them.
let package = Package(
    name: "SmoothWalker",
    dependencies: [.package(name: "vitalgate", path: "../..")],
    targets: [
        .executableTarget(
            name: "SmoothWalker",
            dependencies: [
                .product(name: "HealthStore", package: "vitalgate"), .product(name: "HealthModel", package: "vitalgate"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
