internal import Foundation
package import ManagedModel
package import ModelMigration

/// The versions of a model in a lock file, including versions that were edited in place and are no longer in a bundle.
struct LockedVersions {
    /// The models, oldest first.
    private(set) var models: [LockedModel] = []
    /// The reason why the lock file cannot be read.
    private(set) var error: LockFileError?

    /// Looks for `model.lock` and `Models/model.lock` in the folder of a model and in the folders above it, up to the folder of
    /// the package.
    ///
    /// - Parameter url: The bundle. Lock files that do not name the bundle are skipped.
    init(of url: URL) {
        let model = url.standardizedFileURL.resolvingSymlinksInPath()
        var folder = model.deletingLastPathComponent()
        for _ in 0..<LockedVersions.maximumFolderCount {
            for name in ["model.lock", "Models/model.lock"] {
                readLockFile(folder.appending(path: name), model)
                if !models.isEmpty || error != nil { return }
            }
            let isTop = ["Package.swift", ".git"].contains {
                FileManager.default.fileExists(atPath: folder.appending(path: $0).path)
            }
            if isTop || folder.pathComponents.count < 2 { return }
            folder.deleteLastPathComponent()
        }
    }

    /// The maximum number of folders to search.
    private static let maximumFolderCount = 16

    private mutating func readLockFile(_ file: URL, _ model: URL) {
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        do throws(LockFileError) {
            let lock = try ModelLock(text: LockedVersions.text(of: file), file: file.path)
            let folder = file.deletingLastPathComponent()
            let found = lock.models.first {
                folder.appending(path: $0.path).standardizedFileURL.resolvingSymlinksInPath().path == model.path
            }
            models = found?.history.reversed() ?? []
        } catch {
            self.error = error
        }
    }

    private static func text(of file: URL) throws(LockFileError) -> String {
        let data: Data?
        do { data = try BoundedFile.read(file, limit: MarkupScan.byteLimit) } catch {
            throw LockFileError(file: file.path, message: error.message)
        }
        guard let text = String(data: data ?? Data(), encoding: .utf8) else {
            throw LockFileError(
                file: file.path, message: "The lock file is not UTF-8 text. Restore or remove the file.")
        }
        return text
    }
}

extension LockedVersions {
    /// Returns all models that are older than a version, oldest first. These models are the earlier versions in the
    /// bundle and the models in the lock file. A locked model with the name of a version comes directly before that
    /// version.
    ///
    /// - Parameters:
    ///   - earlier: The earlier versions in the bundle, oldest first.
    ///   - later: The names of the versions in the bundle that are neither the version itself nor an earlier version.
    ///   - isCurrent: Whether the version is the current version of the bundle. In that case, locked models whose names are no
    ///     longer in the bundle count as earlier versions.
    func merged(with earlier: [ManagedObjectModel], version: String, later: Set<String>, isCurrent: Bool)
        -> [ManagedObjectModel]
    {
        let positions = Dictionary(earlier.enumerated().map { ($1.version, $0) }) { first, _ in first }
        var chains = Array(repeating: [ManagedObjectModel](), count: earlier.count + 1)
        // The position of the next newer model. A locked model whose name is not in the bundle comes before that model.
        var chainIndex = isCurrent ? earlier.count : nil
        for locked in models.reversed() where !later.contains(locked.version) {
            if let position = locked.version == version ? earlier.count : positions[locked.version] {
                chainIndex = min(position, chainIndex ?? position)
            }
            guard let chainIndex else { continue }
            // If another release wrote the model, this release cannot read the model. In this case, older models are not used
            // either.
            guard let model = locked.model else { break }
            chains[chainIndex].insert(model, at: 0)
        }
        return zip(chains, earlier).flatMap { $0 + [$1] } + chains[earlier.count]
    }
}

extension LockedModel {
    /// Returns the earlier versions whose names a later model must know. The names and renaming identifiers of the later model
    /// alone would lead to the wrong elements of these versions.
    ///
    /// - Parameter model: The later model. Its ``ManagedObjectModel/earlierVersions`` are not used.
    package func earlierVersions(neededBy model: ManagedObjectModel) -> [EarlierVersion] {
        var follower = model
        follower.follow(readableHistory)
        return follower.earlierVersions
    }

    /// Returns the renaming identifiers with which a later model needs no names of earlier versions; nil if identifiers are
    /// not enough.
    ///
    /// - Parameter model: The later model. Its ``ManagedObjectModel/earlierVersions`` are not used.
    package func identifiers(neededBy model: ManagedObjectModel) -> [NeededIdentifier]? {
        model.identifiers(replacingNamesOf: readableHistory)
    }

    /// The elements of a later model that no longer have their renaming identifier from this model.
    ///
    /// - Parameter model: The later model.
    package func droppedIdentifiers(in model: ManagedObjectModel) -> [String] {
        renamingIdentifiers.droppedIdentifiers(
            in: model, isSameShape: hash == model.hash, since: earlier.map(\.renamingIdentifiers))
    }

    /// The models of the history, oldest first. Models that another release wrote end the chain, because this release cannot
    /// read them.
    private var readableHistory: [ManagedObjectModel] {
        history.lazy.map(\.model).prefix { $0 != nil }.compactMap(\.self).reversed()
    }
}

/// A configuration of a locked model. The configuration has its own hash, because a store can be made for one configuration
/// alone.
package struct LockedConfiguration: Sendable, Equatable {
    package let name: String
    package let hash: ModelHash
    /// The names of the entities, in the order of the model.
    package let entityNames: [String]

    /// Nil if the configuration lacks the parent or a destination of one of its entities. No store can be made for such a
    /// configuration.
    init?(_ configuration: EntityConfiguration, of model: ManagedObjectModel) {
        do { hash = try model.restricted(toConfiguration: configuration.name).hash } catch { return nil }
        name = configuration.name
        entityNames = configuration.entityNames
    }

    static func recognizes(_ line: some StringProtocol) -> Bool { line.hasPrefix("configuration ") }

    /// Parses a ``line``. Returns nil if no configuration has such a line.
    init?(_ line: String) {
        guard var words = WordParser(line), words.consume("configuration"), let name = words.consumeName(),
            words.consume("hash"),
            let hash = words.consumeWord().flatMap({ ModelHash($0) }), words.consume("entities")
        else { return nil }
        self.name = name
        self.hash = hash
        entityNames = words.consumeNames()
        guard words.isAtEnd else { return nil }
    }

    var line: String {
        "configuration \(name.quotedWord) hash \(hash) entities" + entityNames.map { " " + $0.quotedWord }.joined()
    }
}
