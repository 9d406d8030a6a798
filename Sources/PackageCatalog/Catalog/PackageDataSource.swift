internal import CoreDataSource
internal import DebianControl
internal import Foundation

/// The packages. It is given a `PackageRecord` to add, and the name of a package to delete.
final class PackageDataSource: DataSource {
    override class var entities: [ManagedObject.Type] { [Package.self] }

    override func onAdd(_ object: any Sendable, in context: isolated PrivateContext) throws -> ManagedObject? {
        guard let record = object as? PackageRecord else { return nil }
        let package = try context.findOrInsert(Package.self, where: \.key, equals: record.key)
        package.name = record.name
        package.architecture = record.architecture
        package.version = record.version
        package.section = record.section
        package.priority = record.priority
        package.maintainerKey = record.maintainer?.key ?? ""
        package.summary = record.summary
        package.homepage = record.homepage.flatMap { URL(string: $0) }
        package.installedSize = record.installedSize
        package.size = record.size
        package.sha256 = record.sha256
        package.depends = record.depends
        package.status = record.status
        ProgressBar.standardError.advance()
        return package
    }

    /// Returns once main shows what was saved, and lists have said so.
    func showSaves() async throws {
        try await perform(waitFor: .main) { _ in }
    }

    override func onDelete(_ object: any Sendable, in context: isolated PrivateContext) throws {
        guard let name = object as? String else { return }
        for package in try context.fetch(Package.self, where: \.name, equals: name) { context.delete(package) }
    }
}
