// swift-tools-version: 6.0
import PackageDescription

// Levels: an edge goes only to a lower one. scripts/check-levels reads `swift package describe` and fails on any other.
let package = Package(
    name: "vitalgate",
    products: [
        .executable(name: "vitalgate", targets: ["vitalgate"]),
        .library(name: "HealthModel", targets: ["HealthModel"]),
        .library(name: "SampleStore", targets: ["SampleStore"]),
        .library(name: "Pipeline", targets: ["Pipeline"]),
        .library(name: "HealthStore", targets: ["HealthStore"]),
    ],
    targets: [
        // Level 0: C libraries.
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
        .systemLibrary(name: "CZip", pkgConfig: "libzip", providers: [.apt(["libzip-dev"])]),
        // Writes an archive in one go, whose size nobody knows before.
        .systemLibrary(name: "CArchiveWriter", pkgConfig: "libarchive", providers: [.apt(["libarchive-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-gnutls-dev"])]),
        // Makes and reads the frames of WebSocket, without input and output: libcurl has that only from Debian 13 on.
        .systemLibrary(name: "CWslay", providers: [.apt(["libwslay-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CDeflate", pkgConfig: "libdeflate", providers: [.apt(["libdeflate-dev"])]),
        // Serves HTTP/1.1 and TLS: parsing what strangers send, many connections on few threads, and back-pressure are its trade.
        .systemLibrary(name: "CMicroHTTPD", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        // Validates documents against HL7's schema, as they are read.
        .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        // Makes the QR codes by which a phone opens a link of the hub: small, without dependencies, and checked against the standard.
        .systemLibrary(name: "CQRCode", pkgConfig: "qrcodegen", providers: [.apt(["libqrcodegen-dev"])]),
        .systemLibrary(name: "CMosquitto", pkgConfig: "libmosquitto", providers: [.apt(["libmosquitto-dev"])]),
        // Connects the hubs of a fleet with their collectors.
        .systemLibrary(name: "CNATS", pkgConfig: "libnats", providers: [.apt(["libnats-dev"])]),
        .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CUdev", pkgConfig: "libudev", providers: [.apt(["libudev-dev"])]),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CTimer"),
        .systemLibrary(name: "CBluetooth", pkgConfig: "bluez", providers: [.apt(["libbluetooth-dev"])]),

        // Level 0.5: one wrapper per C library that several targets use.
        .target(name: "CompressionKit", dependencies: ["CZlib", "CDeflate"]),
        .target(name: "CryptographyKit", dependencies: ["CCrypto"]),
        .target(name: "SQLiteKit", dependencies: ["CSQLite"]),
        .target(name: "NATSKit", dependencies: ["CNATS"]),
        .target(name: "QRCodeKit", dependencies: ["CQRCode"]),

        // Level 1: what a reading is, and what octets on a wire are.
        .target(name: "HealthModel", dependencies: ["CompressionKit", "CSodium"]),
        .target(name: "Wire"),
        .target(name: "CommandLineKit"),

        // Level 2: the seams between the stages.
        .target(name: "Pipeline", dependencies: ["HealthModel"]),
        // The lines that go out: what commands, exporters and whoever else writes samples share.
        .target(name: "Formats", dependencies: ["HealthModel"]),
        // What every target over HTTP needs: libcurl keeps connections, TLS and timeouts right.
        .target(name: "HTTPClientKit", dependencies: ["CCurl"]),
        // One thread's poll(2), which all live sources share.
        .target(name: "EventLoopKit", dependencies: ["HealthModel", "CTimer"]),

        // Level 2.5: D-Bus and the service manager, on the event loop.
        .target(name: "SystemdKit", dependencies: ["EventLoopKit", "CSystemd"]),

        // What hubs and collectors of a fleet send each other.
        .target(name: "FleetProtocol", dependencies: ["Pipeline", "HealthModel", "CompressionKit", "CryptographyKit"]),

        // Level 3: the stages.
        .target(name: "Profiles", dependencies: ["Pipeline", "Formats", "HealthModel", "Wire", "CryptographyKit"]),
        .target(
            name: "FileSource",
            dependencies: ["Pipeline", "HealthModel", "Wire", "CompressionKit", "SQLiteKit", "CExpat", "CZip"]),
        .target(name: "ClinicalModel", dependencies: ["Pipeline", "HealthModel", "CLibXML2"]),
        .target(name: "BlueZSource", dependencies: ["SystemdKit", "EventLoopKit", "Pipeline", "HealthModel", "CBluetooth"]),
        .target(name: "SerialSource", dependencies: ["EventLoopKit", "Pipeline", "HealthModel", "Wire", "CUdev"]),
        .target(name: "SampleStore", dependencies: ["Pipeline", "HealthModel", "SQLiteKit"]),
        .target(name: "FileExport", dependencies: ["Formats", "Pipeline", "HealthModel", "CArchiveWriter"]),
        // Answers over HTTP: bounds, hosts, streams; knows nothing of health.
        .target(name: "HTTPServerKit", dependencies: ["CompressionKit", "CMicroHTTPD"]),

        // Connections that stay open for messages in both directions, and Home Assistant's commands over one.
        .target(name: "WebSocketKit", dependencies: ["CWslay", "HTTPClientKit", "CryptographyKit"]),
        .target(name: "HomeAssistantKit", dependencies: ["WebSocketKit", "Formats", "Pipeline"]),
        .target(name: "HomeAssistantExport", dependencies: ["HomeAssistantKit", "Formats", "Pipeline", "HealthModel"]),
        .target(
            name: "HomeAssistantSource", dependencies: ["HomeAssistantKit", "BlueZSource", "Pipeline", "HealthModel", "Wire"]),
        .target(
            name: "InfluxExport", dependencies: ["Formats", "Pipeline", "HealthModel", "HTTPClientKit", "CompressionKit"]),
        .target(
            name: "WebhookExport", dependencies: ["Formats", "Pipeline", "HealthModel", "HTTPClientKit", "CryptographyKit"]),
        .target(name: "FHIRExport", dependencies: ["Formats", "Pipeline", "HealthModel", "HTTPClientKit"]),
        .target(name: "CommandExport", dependencies: ["Formats", "Pipeline", "HealthModel"]),
        .target(name: "MQTTExport", dependencies: ["Formats", "Pipeline", "HealthModel", "CMosquitto"]),
        .target(name: "PostgreSQLExport", dependencies: ["Formats", "Pipeline", "HealthModel", "CPostgreSQL"]),
        .target(name: "FleetExport", dependencies: ["FleetProtocol", "NATSKit", "Pipeline", "HealthModel"]),

        // Level 4: from frames to the store, live and from files.
        .target(
            name: "Ingestion",
            dependencies: [
                "EventLoopKit", "Pipeline", "HealthModel", "Profiles", "FileSource", "BlueZSource", "SampleStore", "Wire",
                "ClinicalModel",
            ]),

        // Encrypted copies of the store and its settings, by restic.
        .target(name: "HubBackup", dependencies: ["Ingestion", "EventLoopKit", "Pipeline", "HealthModel", "SampleStore"]),

        // From the hubs of a fleet to its database.
        .target(
            name: "FleetCollector",
            dependencies: ["FleetProtocol", "NATSKit", "PostgreSQLExport", "SampleStore", "Pipeline", "HealthModel"]),

        // From the store to other stores.
        .target(name: "ExportEngine", dependencies: ["Formats", "Pipeline", "HealthModel", "SampleStore"]),

        // The store as a library, in the shape of HealthKit's.
        .target(name: "HealthStore", dependencies: ["Pipeline", "HealthModel", "SampleStore"]),

        // Answers that commands, API, and page share: the last night, the total of a day.
        .target(name: "HealthAnswers", dependencies: ["FileSource", "Formats", "Pipeline", "HealthModel", "SampleStore"]),

        // What the API and the page share: readers, limits, and the queue of changes.
        .target(name: "HealthServing", dependencies: ["HTTPServerKit", "Pipeline", "HealthModel", "SampleStore"]),

        // Level 5: the store's answers over HTTP, and assembly.
        .target(
            name: "HealthAPI",
            dependencies: [
                "HealthServing", "HTTPServerKit", "FileSource", "Formats", "Pipeline", "HealthAnswers", "HealthModel",
                "SampleStore",
            ]),
        .target(
            name: "HealthPage",
            dependencies: [
                "HealthServing", "HTTPServerKit", "QRCodeKit", "Formats", "HealthAnswers", "ClinicalModel", "HealthModel",
                "Pipeline", "SampleStore",
            ]),
        .target(
            name: "Hub",
            dependencies: [
                "Ingestion", "EventLoopKit", "Pipeline", "HealthModel", "Profiles", "FileSource", "BlueZSource", "SerialSource",
                "SampleStore", "ExportEngine", "HealthAnswers", "FileExport", "PostgreSQLExport", "WebhookExport", "InfluxExport",
                "MQTTExport", "FHIRExport", "CommandExport", "HomeAssistantExport", "FleetProtocol", "FleetExport",
                "FleetCollector", "NATSKit", "Wire",
                "SystemdKit", "HTTPServerKit", "CryptographyKit", "HubBackup", "HomeAssistantKit", "HomeAssistantSource",
            ]),

        // Level 6: the program.
        .executableTarget(
            name: "vitalgate",
            dependencies: [
                "Hub", "HubBackup", "CryptographyKit", "Ingestion", "ExportEngine", "FileExport", "FleetExport", "FleetCollector",
                "FleetProtocol", "NATSKit", "PostgreSQLExport", "CommandLineKit", "EventLoopKit",
                "Formats", "SampleStore",
                "Profiles",
                "FileSource",
                "BlueZSource", "SystemdKit", "SerialSource", "Pipeline", "HealthAnswers", "HealthModel", "HealthStore", "Wire",
                "HealthAPI",
                "HealthPage", "HealthServing", "HTTPServerKit", "QRCodeKit", "HomeAssistantKit", "HomeAssistantSource",
            ]),

        .target(name: "PipelineTesting", dependencies: ["Pipeline", "HealthModel"], path: "Tests/PipelineTesting"),
        .target(
            name: "ExportTesting",
            dependencies: ["ExportEngine", "SampleStore", "HTTPClientKit", "Pipeline", "PipelineTesting", "HealthModel"],
            path: "Tests/ExportTesting", exclude: ["Servers/fhir_server.py", "Servers/home_assistant.py"]),
        .testTarget(name: "CompressionKitTests", dependencies: ["CompressionKit"]),
        .testTarget(name: "QRCodeKitTests", dependencies: ["QRCodeKit"]),
        .testTarget(name: "CryptographyKitTests", dependencies: ["CryptographyKit"]),
        .testTarget(name: "SQLiteKitTests", dependencies: ["CSQLite", "PipelineTesting", "SQLiteKit"]),
        .testTarget(
            name: "HealthModelTests", dependencies: ["HealthModel", "PipelineTesting"], exclude: ["Facts", "Vectors"]),
        .testTarget(
            name: "FormatsTests", dependencies: ["Formats", "Pipeline", "PipelineTesting", "HealthModel"],
            exclude: ["OpenMHealth"]),
        .testTarget(name: "CommandLineKitTests", dependencies: ["CommandLineKit"], exclude: ["Snapshots"]),
        .testTarget(name: "PipelineTests", dependencies: ["Pipeline", "PipelineTesting", "HealthModel"]),
        .testTarget(name: "WireTests", dependencies: ["Wire"]),
        .testTarget(
            name: "ProfilesTests",
            dependencies: ["Profiles", "FileSource", "Pipeline", "PipelineTesting", "HealthModel", "Wire"],
            exclude: ["Vectors"]),
        .testTarget(
            name: "FileSourceTests", dependencies: ["FileSource", "Pipeline", "PipelineTesting", "HealthModel"],
            exclude: ["Files"]),
        .testTarget(
            name: "ClinicalModelTests",
            dependencies: ["ClinicalModel", "FileSource", "Pipeline", "PipelineTesting", "HealthModel"],
            exclude: ["Files", "CDA/Files"]),
        .testTarget(
            name: "BlueZSourceTests",
            dependencies: [
                "BlueZSource", "SystemdKit", "EventLoopKit", "Hub", "Ingestion", "SampleStore", "Profiles", "Pipeline",
                "PipelineTesting", "HealthModel",
            ]),
        .testTarget(
            name: "HubBackupTests",
            dependencies: ["HubBackup", "SampleStore", "Pipeline", "PipelineTesting", "HealthModel"]),
        .testTarget(
            name: "SerialSourceTests",
            dependencies: ["SerialSource", "EventLoopKit", "Pipeline", "PipelineTesting", "HealthModel", "Wire"]),
        .testTarget(
            name: "SampleStoreTests",
            dependencies: ["SampleStore", "Formats", "Pipeline", "PipelineTesting", "HealthModel", "SQLiteKit"]),
        .testTarget(
            name: "HealthStoreTests", dependencies: ["HealthStore", "SampleStore", "Pipeline", "PipelineTesting", "HealthModel"]),
        .testTarget(
            name: "FileExportTests", dependencies: ["FileExport", "Pipeline", "PipelineTesting", "HealthModel"]),
        .testTarget(
            name: "HTTPClientKitTests", dependencies: ["HTTPClientKit", "ExportTesting", "PipelineTesting"]),
        .testTarget(name: "HTTPServerKitTests", dependencies: ["HTTPServerKit", "HTTPServerTesting"]),
        .target(name: "HTTPServerTesting", dependencies: ["HTTPServerKit"], path: "Tests/HTTPServerTesting"),
        .target(
            name: "HealthServingTesting",
            dependencies: [
                "HealthServing", "HTTPServerKit", "HTTPServerTesting", "SampleStore", "Pipeline", "PipelineTesting",
                "HealthModel",
            ],
            path: "Tests/HealthServingTesting"),
        .testTarget(
            name: "HealthAPITests",
            dependencies: [
                "HealthAPI", "HealthServing", "HealthServingTesting", "HealthStore", "Ingestion", "FileSource", "HTTPServerKit",
                "HTTPServerTesting", "SampleStore", "Pipeline", "PipelineTesting", "HealthModel",
            ]),
        .testTarget(
            name: "HealthPageTests",
            dependencies: [
                "HealthPage", "HealthAPI", "HealthAnswers", "HealthServing", "HealthServingTesting", "HTTPServerKit",
                "HTTPServerTesting",
                "SampleStore", "Pipeline", "PipelineTesting", "HealthModel",
            ]),
        .testTarget(
            name: "HealthAnswersTests",
            dependencies: ["HealthAnswers", "SampleStore", "Pipeline", "PipelineTesting", "HealthModel"]),
        .testTarget(
            name: "WebhookExportTests",
            dependencies: [
                "WebhookExport", "ExportTesting", "ExportEngine", "SampleStore", "Pipeline", "PipelineTesting", "HealthModel",
            ]),
        .testTarget(
            name: "CommandExportTests",
            dependencies: [
                "CommandExport", "ExportTesting", "ExportEngine", "SampleStore", "Pipeline", "PipelineTesting", "HealthModel",
            ]),
        .testTarget(
            name: "InfluxExportTests",
            dependencies: [
                "InfluxExport", "HTTPClientKit", "ExportTesting", "ExportEngine", "SampleStore", "Pipeline", "PipelineTesting",
                "HealthModel",
            ], exclude: ["Corpus"]),
        .testTarget(
            name: "HomeAssistantExportTests",
            dependencies: [
                "HomeAssistantExport", "HomeAssistantKit", "WebSocketKit", "ExportTesting", "ExportEngine", "SampleStore",
                "Pipeline", "PipelineTesting", "HealthModel",
            ], exclude: ["Cases"]),
        .testTarget(
            name: "HomeAssistantSourceTests",
            dependencies: [
                "HomeAssistantSource", "HomeAssistantKit", "WebSocketKit", "BlueZSource", "EventLoopKit", "Hub", "Ingestion",
                "Profiles", "SampleStore", "ExportTesting", "Pipeline", "PipelineTesting", "HealthModel", "Wire",
            ], exclude: ["Cases"]),
        .testTarget(
            name: "MQTTExportTests",
            dependencies: [
                "MQTTExport", "HealthAnswers", "ExportTesting", "ExportEngine", "SampleStore", "Pipeline", "PipelineTesting",
                "HealthModel",
            ], exclude: ["Snapshots", "Facts"]),
        .testTarget(
            name: "FHIRExportTests",
            dependencies: [
                "FHIRExport", "Formats", "HTTPClientKit", "ExportTesting", "ExportEngine", "SampleStore", "Pipeline",
                "PipelineTesting",
                "HealthModel",
            ], exclude: ["Snapshots"]),
        .testTarget(
            name: "PostgreSQLExportTests",
            dependencies: [
                "PostgreSQLExport", "ExportTesting", "ExportEngine", "SampleStore", "Pipeline", "PipelineTesting", "HealthModel",
            ]),
        .testTarget(
            name: "FleetTests",
            dependencies: [
                "FleetProtocol", "FleetExport", "FleetCollector", "NATSKit", "PostgreSQLExport", "CryptographyKit",
                "ExportTesting",
                "ExportEngine",
                "SampleStore", "Pipeline", "PipelineTesting", "HealthModel",
            ], exclude: ["sealing.py"]),
        .testTarget(
            name: "ExportEngineTests",
            dependencies: [
                "ExportTesting", "ExportEngine", "FileExport", "SampleStore", "Pipeline", "PipelineTesting", "HealthModel",
            ]),
        .testTarget(
            name: "HubTests",
            dependencies: [
                "Hub", "HubBackup", "FleetProtocol", "Ingestion", "EventLoopKit", "Formats", "SampleStore", "Profiles",
                "FileSource",
                "BlueZSource", "Pipeline", "PipelineTesting", "HealthAnswers", "HealthModel",
            ],
            exclude: ["Captures"]),
        .testTarget(
            name: "VitalgateTests",
            dependencies: [
                "HealthModel", "Pipeline", "SampleStore", "SQLiteKit", "HTTPServerKit", "HTTPServerTesting", "ExportTesting",
                "PipelineTesting", "Hub", "vitalgate",
            ],
            exclude: ["BadInput", "Published", "Rows", "Snapshots"]),
    ],
    swiftLanguageModes: [.v6]
)

// The tests' scripts (scripts/build-settings) optimize the code under test, but not the tests: thousands of programs that start, and virtual
// machines that emulate each instruction, take most of the time. Assertions stay, because a test should find what they find.
if Context.environment["VITALGATE_OPTIMIZED"] != nil {
    for target in package.targets where target.type == .regular || target.type == .executable {
        target.swiftSettings = [.unsafeFlags(["-O", "-assert-config", "Debug"])]
    }
}

// scripts/fuzz builds this and nothing else: instrumented, in a folder of its own. Without the variable the package knows nothing of it.
// What reads octets is optimised, for ten times as many inputs; the assembly is not, nor is the store, which is only linked: for the time
// that it takes to build.
if let library = Context.environment["VITALGATE_FUZZ"] {
    for target in package.targets where target.type == .regular && target.name != "SampleStore" {
        let speed = ["Hub", "Ingestion"].contains(target.name) ? [] : ["-O"]
        target.swiftSettings = [.unsafeFlags(["-sanitize=fuzzer,address"] + speed)]
    }
    package.targets.append(
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "BlueZSource", "CSystemd", "ClinicalModel", "EventLoopKit", "FileSource", "Hub", "HealthModel", "Ingestion",
                "Pipeline",
                "Profiles",
                "SerialSource", "SystemdKit", "Wire",
            ],
            path: "Tests/Fuzz",
            swiftSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-O", "-parse-as-library"])],
            linkerSettings: [.unsafeFlags(["-sanitize=address", "-use-ld=lld", library]), .linkedLibrary("stdc++")]))
}
