// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// A package of its own, as an app has one: CoreDataSource is linked as a library, and its plugin reads the app's model.
let package = Package(
    name: "ConsumerApp",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "consumer-app", targets: ["consumer-app"]),
        .executable(name: "main-actor-app", targets: ["main-actor-app"]),
        .executable(name: "costs", targets: ["costs"]),
    ],
    dependencies: [.package(name: "CoreDataSource", path: "../../..")],
    targets: [
        .executableTarget(
            name: "consumer-app",
            dependencies: [.product(name: "CoreDataSource", package: "CoreDataSource")], swiftSettings: settings,
            plugins: [.plugin(name: "ModelPlugin", package: "CoreDataSource")]),
        // As Xcode sets new apps up.
        .executableTarget(
            name: "main-actor-app",
            dependencies: [.product(name: "CoreDataSource", package: "CoreDataSource")],
            swiftSettings: settings + [.defaultIsolation(MainActor.self)],
            plugins: [.plugin(name: "ModelPlugin", package: "CoreDataSource")]),
        .executableTarget(
            name: "costs",
            dependencies: [.product(name: "CoreDataSource", package: "CoreDataSource")], swiftSettings: settings,
            plugins: [.plugin(name: "ModelPlugin", package: "CoreDataSource")]),
    ],
    swiftLanguageModes: [.v6]
)
