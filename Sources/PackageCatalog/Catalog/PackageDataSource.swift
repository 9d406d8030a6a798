internal import CoreDataSource
internal import DebianControl
internal import Foundation

/// The packages, which are known by name, architecture and version.
final class PackageDataSource: KeyedDataSource<PackageRecord, Package> {
    override class var key: ObjectKey<PackageRecord, Package> { ObjectKey(\.key, \.key) }

    override func update(_ package: Package, from record: PackageRecord) {
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
    }

    /// Returns once main shows what was saved, and lists have said so.
    func showSaves() async throws {
        try await perform(waitFor: .main) { _ in }
    }
}
