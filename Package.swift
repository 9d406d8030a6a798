// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

// The scripts that test this package set this variable. In their builds, warnings are errors, no target is optimized in
// debug builds, and the code for stores on PostgreSQL servers is included. The steps of CI share this build, except
// test-threads, test-consumer and costs.
let isDevelopment = Context.environment["COREDATASOURCE_DEVELOPMENT"] != nil

let package = Package(
    name: "CoreDataSource",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "CoreDataSource", targets: ["CoreDataSource"]),
        .library(name: "CoreDataSourceActiveRecord", targets: ["CoreDataSourceActiveRecord"]),
        .library(name: "CoreDataSourceStores", targets: ["CoreDataSourceStores"]),
        .library(name: "DataSourceTesting", targets: ["DataSourceTesting"]),
        .library(name: "ModelReader", targets: ["ModelReader"]),
        .plugin(name: "ModelPlugin", targets: ["ModelPlugin"]),
        .plugin(name: "ModelResetPlugin", targets: ["ModelResetPlugin"]),
        .executable(name: "model-reset", targets: ["model-reset"]),
        .executable(name: "model-codegen", targets: ["model-codegen"]),
    ],
    traits: [
        .default(enabledTraits: isDevelopment ? ["PostgreSQL"] : []),
        .trait(
            name: "PostgreSQL",
            description: "Stores on a PostgreSQL server, for many machines. Needs libpq (libpq-dev)."),
    ],
    targets: [
        // System libraries.
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .systemLibrary(
            name: "CXXHash", pkgConfig: "libxxhash",
            providers: [.apt(["libxxhash-dev"]), .brew(["xxhash"])]),
        .systemLibrary(
            name: "CPostgreSQL", pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),

        // The model: values, their hash, the XML reader and the code generator.
        .target(name: "DeclarationRules"),
        .target(name: "ManagedModel", dependencies: ["DeclarationRules", "CXXHash"]),
        .target(name: "ModelMigration", dependencies: ["ManagedModel"]),
        .target(name: "ModelReader", dependencies: ["ModelMigration", "ManagedModel"]),
        .target(name: "ModelCodeGenerator", dependencies: ["DeclarationRules", "ManagedModel"]),
        .target(name: "CommandLineWords"),
        .executableTarget(
            name: "model-codegen",
            dependencies: ["ModelCodeGenerator", "ModelReader", "ManagedModel", "CommandLineWords"]),
        .plugin(
            name: "ModelPlugin", capability: .buildTool(), dependencies: ["model-codegen"], path: "Sources/ModelPlugin"),

        // The model in code: the reader of its source, and the macros. These targets need no system libraries, so a cross
        // build needs no system libraries of its host.
        .target(name: "ModelSource", dependencies: ["DeclarationRules"]),
        .macro(name: "EntityMacros", dependencies: ["ModelSource"]),

        .target(
            name: "ModelConversion", dependencies: ["ModelSource", "ModelCodeGenerator", "ModelReader", "ManagedModel"]),

        // Rows and change sets, the query language, the stores, and the tiers above them.
        .target(name: "RowStore", dependencies: ["ModelMigration", "ManagedModel"]),
        .target(name: "QueryLanguage", dependencies: ["RowStore", "ManagedModel"]),
        .target(name: "MigrationSQL", dependencies: ["RowStore", "ModelMigration", "ManagedModel"]),
        .target(name: "PredicateSQL", dependencies: ["RowStore"]),
        .target(
            name: "SQLiteStore",
            dependencies: ["PredicateSQL", "MigrationSQL", "RowStore", "ModelMigration", "ManagedModel", "CSQLite"]),
        .target(
            name: "PostgreSQLStore",
            dependencies: [
                "PredicateSQL", "MigrationSQL", "RowStore", "ModelMigration", "ManagedModel",
                .target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
            ]),
        .target(
            name: "CoreDataSource",
            dependencies: [
                "QueryLanguage", "SQLiteStore", "RowStore", "ModelMigration", "ManagedModel", "EntityMacros",
                .target(name: "PostgreSQLStore", condition: .when(traits: ["PostgreSQL"])),
            ],
            exclude: ["CoreDataSource.docc"]),
        .target(
            name: "CoreDataSourceActiveRecord",
            dependencies: ["CoreDataSource", "QueryLanguage", "RowStore", "ManagedModel"]),
        .target(name: "CoreDataSourceStores", dependencies: ["CoreDataSource", "RowStore"]),
        .target(name: "DataSourceTesting", dependencies: ["CoreDataSource", "RowStore", "ManagedModel"]),

        // Programs.
        .target(
            name: "ModelResetCommands",
            dependencies: [
                "ModelConversion", "ModelCodeGenerator", "ModelReader", "SQLiteStore", "RowStore", "ModelMigration",
                "ManagedModel",
                "CommandLineWords",
                .target(name: "PostgreSQLStore", condition: .when(traits: ["PostgreSQL"])),
            ]),
        .executableTarget(name: "model-reset", dependencies: ["ModelResetCommands"]),
        .plugin(
            name: "ModelResetPlugin",
            capability: .command(
                intent: .custom(
                    verb: "model-reset", description: "Says when a changed model resets the stores of an app"),
                permissions: [
                    .writeToPackageDirectory(reason: "check --update writes the lock file, and init writes a model")
                ]
            ),
            dependencies: ["model-reset"], path: "Sources/ModelResetPlugin"),

        // Examples.
        .executableTarget(
            name: "address-book", dependencies: ["CoreDataSource", "CoreDataSourceActiveRecord"],
            path: "Sources/Examples/AddressBook"),
        .target(name: "DebianControl", path: "Sources/Examples/DebianControl"),
        .target(name: "MailApp", dependencies: ["CoreDataSource"], path: "Sources/Examples/Mail/MailApp"),
        .executableTarget(
            name: "mail", dependencies: ["CoreDataSource", "MailApp"], path: "Sources/Examples/Mail/Program"),
        // A server that needs no other target, for the sample reader and its tests.
        .target(name: "FeedServer", path: "Sources/Examples/Reader/FeedServer"),
        .target(name: "ReaderApp", dependencies: ["CoreDataSource"], path: "Sources/Examples/Reader/ReaderApp"),
        .executableTarget(
            name: "reader", dependencies: ["CoreDataSource", "FeedServer", "ReaderApp"],
            path: "Sources/Examples/Reader/Program"),
        // Draws what a program has printed to a terminal.
        .executableTarget(name: "terminal-drawing", path: "Sources/Examples/TerminalDrawing"),
        .executableTarget(
            name: "package-catalog", dependencies: ["CoreDataSource", "DebianControl", "CommandLineWords"],
            path: "Sources/Examples/PackageCatalog", plugins: ["ModelPlugin"]),

        // Tests.
        .testTarget(name: "ManagedModelTests", dependencies: ["ErrorExpectations", "ModelMigration", "ManagedModel"]),
        .testTarget(
            name: "ModelReaderTests",
            dependencies: ["ErrorExpectations", "ModelReader", "ModelMigration", "ManagedModel", "TestSupport"]),
        .testTarget(
            name: "ModelCodeGeneratorTests",
            dependencies: [
                "CoreDataSource", "ModelConversion", "ModelCodeGenerator", "ModelReader", "ModelSource",
                "DeclarationRules", "ManagedModel", "TestSupport",
            ],
            exclude: ["Golden", "Library", "Plugin", "Programs"]),
        .testTarget(
            name: "RowStoreTests", dependencies: ["ErrorExpectations", "RowStore", "ManagedModel", "TestSupport"]),
        .testTarget(name: "QueryLanguageTests", dependencies: ["QueryLanguage", "TestSupport"]),
        .target(name: "CFaultyVFS", dependencies: ["CSQLite"], path: "Tests/Support/CFaultyVFS"),
        .target(
            name: "StoreTestModel", dependencies: ["RowStore", "ModelMigration", "ManagedModel"],
            path: "Tests/Support/StoreTestModel"),
        .target(
            name: "StoreFaults",
            dependencies: [
                "SQLiteStore", "RowStore", "ManagedModel", "CSQLite", "CFaultyVFS", "StoreTestModel", "TestSupport",
            ], path: "Tests/Support/StoreFaults"),
        .executableTarget(
            name: "store-program",
            dependencies: ["SQLiteStore", "StoreTestModel", "RowStore", "ManagedModel", "ModelReader", "CSQLite"],
            path: "Tests/Programs/StoreProgram"),
        .testTarget(
            name: "SQLiteStoreTests",
            dependencies: [
                "ErrorExpectations", "SQLiteStore", "RowStore", "ModelMigration", "ManagedModel", "ModelReader",
                "CSQLite", "StoreFaults", "StoreTestModel", "TestSupport",
            ]),
        .target(name: "JSONFolderStore", dependencies: ["CoreDataSourceStores"], path: "Tests/Support/JSONFolderStore"),
        .testTarget(
            name: "StorePromiseTests",
            dependencies: [
                "ErrorExpectations", "SQLiteStore", "RowStore", "ModelMigration", "ManagedModel", "StoreFaults",
                "StoreTestModel", "TestSupport", "JSONFolderStore",
                .target(name: "PostgreSQLStore", condition: .when(traits: ["PostgreSQL"])),
            ]),
        .testTarget(
            name: "PostgreSQLStoreTests",
            dependencies: [
                "ErrorExpectations", "PostgreSQLStore", "PredicateSQL", "RowStore", "ManagedModel", "StoreTestModel",
                "TestSupport",
            ]),
        .testTarget(
            name: "CoreDataSourceTests",
            dependencies: [
                "ErrorExpectations", "CoreDataSource", "CoreDataSourceActiveRecord", "CoreDataSourceStores",
                "DataSourceTesting", "ModelReader", "QueryLanguage", "RowStore", "SQLiteStore", "ModelMigration",
                "ManagedModel", "CSQLite", "StoreFaults", "TestSupport", "JSONFolderStore",
                .target(name: "PostgreSQLStore", condition: .when(traits: ["PostgreSQL"])),
            ],
            plugins: ["ModelPlugin"]),
        .testTarget(
            name: "ModelSourceTests", dependencies: ["CoreDataSource", "ModelSource", "ManagedModel", "TestSupport"]),
        .testTarget(
            name: "ModelInCodeTests",
            dependencies: [
                "ErrorExpectations", "CoreDataSource", "ModelConversion", "ModelReader", "ModelSource", "RowStore",
                "ManagedModel", "TestSupport",
            ]),
        // Suites of CoreDataSourceTests, compiled once more with the classes that model-reset convert writes for the same models:
        // relationships, lists, drafts, transfer, sharing and PostgreSQL, history, pins, scopes, starts and backups, keys, resets
        // and values. ModelInCodeTests has migrations.
        .testTarget(
            name: "ConvertedModelTests",
            dependencies: [
                "ErrorExpectations", "CoreDataSource", "CoreDataSourceActiveRecord", "CoreDataSourceStores",
                "DataSourceTesting", "QueryLanguage", "RowStore", "SQLiteStore", "ModelMigration", "ManagedModel",
                "CSQLite", "ModelReader", "StoreFaults", "TestSupport", "JSONFolderStore",
                .target(name: "PostgreSQLStore", condition: .when(traits: ["PostgreSQL"])),
            ],
            exclude: [
                // These suites change the model without changing the classes. This is impossible with a model in code.
                "Suites/History/RevertTests.swift", "Suites/Scopes/ScopeBadInputTests.swift",
                "Suites/Scopes/ScopeLossTests.swift", "Suites/Sharing/ServerRightsTests.swift",
                // These suites use none of the classes. Some have a model in code of their own.
                "Suites/Drafts/OrderMergeTests.swift", "Suites/History/LargeValueHistoryTests.swift",
                "Suites/History/RandomUniqueConflictTests.swift", "Suites/History/RevertAgainTests.swift",
                "Suites/Lists/CalendarPeriodTests.swift", "Suites/Pinning/PinServerTests.swift",
                "Suites/Relationships/Histories", "Suites/Relationships/ListPositionTests.swift",
                "Suites/Scopes/LinkedScopeSimulationTests.swift", "Suites/Scopes/ScopeHookTests.swift",
                "Suites/Scopes/SeaLoad.swift", "Suites/Scopes/SeaModel.swift", "Suites/Scopes/SeaReference.swift",
                "Suites/Scopes/SeaServer.swift", "Suites/Scopes/SeaWorld.swift", "Suites/Sharing/LeaseStateTests.swift",
                // These random suites take minutes, and how a model is declared does not change what they test.
                "Suites/History/RandomConsumerTests.swift", "Suites/History/RandomRevertTests.swift",
                "Suites/Pinning/RandomPinTests.swift", "Suites/Scopes/ScopeKillTests.swift",
                "Suites/Scopes/ScopeSimulationTests.swift",
            ]),
        .target(name: "TestSupport", path: "Tests/Support/TestSupport"),
        .target(name: "ErrorExpectations", dependencies: ["RowStore"], path: "Tests/Support/ErrorExpectations"),
        // Declares names of Apple's frameworks. The code in the articles must compile beside these names.
        .target(name: "FrameworkNames", path: "Tests/Support/FrameworkNames"),
        .testTarget(name: "TestSupportTests", dependencies: ["ErrorExpectations", "TestSupport"]),
        .target(name: "CTaskHooks", path: "Tests/Support/CTaskHooks"),
        .executableTarget(
            name: "stress",
            dependencies: [
                "CoreDataSource", "CoreDataSourceActiveRecord", "SQLiteStore", "RowStore", "ManagedModel", "CSQLite",
                "CTaskHooks", "StoreFaults", "StoreTestModel", "TestSupport",
                .target(name: "PostgreSQLStore", condition: .when(traits: ["PostgreSQL"])),
            ], path: "Tests/Programs/Stress", plugins: ["ModelPlugin"]),
        .testTarget(name: "StressTests", dependencies: ["TestSupport"]),
        .testTarget(
            name: "MisuseTests", dependencies: ["CoreDataSource", "TestSupport"], path: "Tests/Misuse/Tests"),
        .executableTarget(
            name: "readme-example", dependencies: ["CoreDataSource"], path: "Tests/Programs/ReadmeExample"),
        .executableTarget(
            name: "follow-example", dependencies: ["CoreDataSource"], path: "Tests/Programs/FollowExample"),
        .testTarget(name: "ReadmeTests", dependencies: ["TestSupport"]),
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "ErrorExpectations", "CoreDataSource", "CoreDataSourceActiveRecord", "CoreDataSourceStores",
                "DataSourceTesting", "ModelReader", "ManagedModel", "RowStore", "TestSupport",
            ],
            plugins: ["ModelPlugin"]),
        .testTarget(name: "StructureTests", dependencies: ["ErrorExpectations", "TestSupport"]),
        .testTarget(name: "AddressBookTests", dependencies: ["TestSupport"]),
        .testTarget(name: "DebianControlTests", dependencies: ["ErrorExpectations", "DebianControl"]),
        .testTarget(
            name: "MailAppTests", dependencies: ["ErrorExpectations", "CoreDataSource", "MailApp", "TestSupport"]),
        .testTarget(
            name: "ReaderAppTests",
            dependencies: ["ErrorExpectations", "CoreDataSource", "FeedServer", "ReaderApp", "TestSupport"]),
        .testTarget(
            name: "ModelResetTests",
            dependencies: [
                "CoreDataSource", "ModelResetCommands", "TestSupport", "ModelConversion", "ModelCodeGenerator",
                "ModelReader", "SQLiteStore", "RowStore", "ModelMigration", "ManagedModel",
                .target(name: "PostgreSQLStore", condition: .when(traits: ["PostgreSQL"])),
            ]),
        .testTarget(name: "PackageCatalogTests", dependencies: ["TestSupport", "CSQLite"]),

        // The benchmark, and the code with which it compares the library.
        .target(name: "RawSQLite", dependencies: ["CSQLite"], path: "Tests/Programs/Benchmarks/RawSQLite"),
        .target(
            name: "RawPostgreSQL",
            dependencies: [
                "RawSQLite",
                .target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
            ], path: "Tests/Programs/Benchmarks/RawPostgreSQL",
            cSettings: [.define("RAW_POSTGRESQL", .when(traits: ["PostgreSQL"]))]),
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                "CoreDataSource", "RowStore", "SQLiteStore", "RawSQLite", "TestSupport",
                .target(name: "RawPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
                .target(name: "PostgreSQLStore", condition: .when(traits: ["PostgreSQL"])),
            ],
            path: "Tests/Programs/Benchmarks/Benchmarks", plugins: ["ModelPlugin"]),
    ],
    swiftLanguageModes: [.v6]
)

// The programs of Scripts/fuzz, which CI compiles but does not link. Each of them defines the same C function.
if isDevelopment {
    package.targets += [
        .target(
            name: "ModelReaderFuzzer", dependencies: ["ModelCodeGenerator", "ModelReader", "ManagedModel"],
            path: "Tests/Programs/Fuzzing/ModelReaderFuzzer", exclude: ["model.dict"]),
        .target(
            name: "ModelSourceFuzzer", dependencies: ["ModelSource"], path: "Tests/Programs/Fuzzing/ModelSourceFuzzer",
            exclude: ["declarations.txt", "swift.dict"]),
        .target(
            name: "PredicateFormatFuzzer", dependencies: ["CoreDataSource", "RowStore"],
            path: "Tests/Programs/Fuzzing/PredicateFormatFuzzer", exclude: ["format.dict", "formats.txt"]),
    ]
    // For a plugin, SwiftPM compiles the tool and all its modules a second time. Scripts/test-consumer builds this plugin.
    package.products.removeAll { $0.name == "ModelResetPlugin" }
    package.targets.removeAll { $0.name == "ModelResetPlugin" }
}

// An app that was built for debugging spends most of its time in this target, with rows, predicates and strings.
// Optimizing the other targets, too, would make builds too slow.
let optimizedInDebug: Set = ["RowStore"]

// Targets whose speed matters little. The plugin's tool and the macros run only in a build, and an app plans a
// migration only once. SwiftPM compiles the tool twice in a release build.
let unoptimizedInRelease: Set = [
    "ModelReader", "ModelCodeGenerator", "CommandLineWords", "model-codegen", "ModelMigration", "MigrationSQL",
    "ModelSource", "EntityMacros",
]

// For the thread sanitizer, only the tests of one target are built, with the targets and plugins that these tests need.
if Context.environment["COREDATASOURCE_DEVELOPMENT"] == "threads" {
    let needed = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0.needed) })
    var kept: Set = ["CoreDataSourceTests"]
    var waiting = ["CoreDataSourceTests"]
    while let name = waiting.popLast() { waiting += (needed[name] ?? []).filter { kept.insert($0).inserted } }
    package.targets.removeAll { !kept.contains($0.name) }
    package.products = []
}

extension Target {
    /// The names of the targets and the plugins that this target needs.
    fileprivate var needed: [String] {
        let targets: [String?] = dependencies.map {
            switch $0 {
            case .targetItem(let name, _), .byNameItem(let name, _): name
            default: nil
            }
        }
        let plugins: [String?] = (plugins ?? []).map {
            if case .plugin(let name, _) = $0 { name } else { nil }
        }
        return (targets + plugins).compactMap(\.self)
    }
}

// Targets whose classes use declarations that the macros warn of. Their warnings are not errors.
let saysWhatIsUnsupported: Set = ["ConvertedModelTests"]

// The settings of all targets.
for target in package.targets where [.regular, .executable, .test, .macro].contains(target.type) {
    var settings: [SwiftSetting] = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        // By default, the driver calls the compiler for 25 files at a time, and each call reads the whole module.
        .unsafeFlags(["-driver-batch-size-limit", "1000"], .when(configuration: .debug)),
    ]
    if isDevelopment {
        settings.append(.treatAllWarnings(as: saysWhatIsUnsupported.contains(target.name) ? .warning : .error))
    } else if optimizedInDebug.contains(target.name) {
        settings.append(.unsafeFlags(["-O"], .when(configuration: .debug)))
    }
    if unoptimizedInRelease.contains(target.name) {
        settings.append(.unsafeFlags(["-Onone"], .when(configuration: .release)))
    }
    target.swiftSettings = (target.swiftSettings ?? []) + settings
}
