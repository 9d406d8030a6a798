internal import CommandLineWords
internal import CoreDataSource
internal import Foundation

/// The sample app of this package: a catalog of Debian packages, their dependencies and their maintainers.
///
/// The folder `Arguments` parses the command line, `Input` reads the control file, `Catalog` has the two data sources,
/// `Watch` follows changes, and `Report` prints progress and results.
@main
@MainActor
struct PackageCatalog {
    static func main() async {
        do {
            try await run(Arguments(CommandLine.arguments.dropFirst()))
        } catch let error as UsageError {
            fail("\(error.message)\nTry package-catalog --help.", status: 2)
        } catch {
            fail("\(error)", status: 1)
        }
    }

    private static func run(_ arguments: Arguments) async throws {
        switch arguments.command {
        case .help: print(Arguments.help, terminator: "")
        case .update: try await using(update(arguments)) { _ in }
        case .list(let filter): try await using(openCatalog(arguments)) { try $0.list(filter) }
        case .delete(let names): try await using(openCatalog(arguments)) { try await $0.delete(names) }
        case .deleteMaintainers(let keys):
            try await using(openCatalog(arguments)) { try await $0.deleteMaintainers(keys) }
        case .depends(let name): try await using(openCatalog(arguments)) { try $0.printDependencies(of: name) }
        case .rdepends(let name): try await using(openCatalog(arguments)) { try $0.printDependents(of: name) }
        case .why(let name): try await using(openCatalog(arguments)) { try $0.printReason(for: name) }
        case .watch(let subject): try await watch(arguments, subject)
        }
    }

    /// Closes the catalog at the end, even after an error. If the catalog stayed open, other members of a shared store would
    /// wait until this member counts as ended.
    private static func using(_ catalog: Catalog, _ body: (Catalog) async throws -> Void) async throws {
        do {
            try await body(catalog)
        } catch {
            try? await catalog.container.close()
            throw error
        }
        try await catalog.container.close()
    }

    /// Reads the input before opening the store, so that the store is not reset if the input cannot be read.
    private static func update(_ arguments: Arguments) async throws -> Catalog {
        let packages = try PackageList(arguments.input)
        packages.reportFaults()
        let catalog = try await Catalog(arguments, resetPolicy: .discard)
        try await catalog.update(packages)
        return catalog
    }

    private static func watch(_ arguments: Arguments, _ subject: WatchSubject) async throws {
        if arguments.input == Input("-") {
            throw UsageError("watch reads its commands from standard input. Give --input a file")
        }
        let version = FileVersion(arguments.input)
        try await using(update(arguments)) { try await $0.watch(arguments.input, since: version, subject) }
    }

    /// Opens an existing store. Never resets a store that was made for another model or database key, because a reset store
    /// would be empty.
    private static func openCatalog(_ arguments: Arguments) async throws -> Catalog {
        if arguments.catalogLocation == .memory { return try await update(arguments) }
        if case .file(let file, _) = arguments.catalogLocation, !FileManager.default.fileExists(atPath: file.path) {
            throw CatalogError("There is no store \(file.path) yet. Run package-catalog to make the store.")
        }
        do {
            return try await Catalog(arguments, resetPolicy: .fail)
        } catch let error as DataSourceError where error.code == .modelChanged {
            let reason = error.cause ?? "the model or the database key changed"
            throw CatalogError("The store does not fit: \(reason). Run package-catalog to fill the store again.")
        }
    }

    private static func fail(_ message: String, status: Int32) -> Never {
        StandardError.print("package-catalog: \(message)")
        exit(status)
    }
}
