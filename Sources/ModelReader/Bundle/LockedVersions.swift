internal import Foundation
package import ManagedModel

/// What a lock file knows of the versions of a model: also those that were edited in place, and are in no bundle any more.
struct LockedVersions {
    /// Oldest first.
    private(set) var models: [LockedModel] = []
    /// Why a lock file beside the model says nothing.
    private(set) var error: LockFileError?

    /// Looks for `model.lock` and `Models/model.lock` in the folder of a model and in those above it, up to that of the package.
    ///
    /// - Parameter url: The bundle. A lock file in which it is not named is another one's.
    init(of url: URL) {
        let model = url.standardizedFileURL.resolvingSymlinksInPath()
        var folder = model.deletingLastPathComponent()
        for _ in 0..<LockedVersions.deepest {
            for name in ["model.lock", "Models/model.lock"] {
                take(folder.appending(path: name), model)
                if !models.isEmpty || error != nil { return }
            }
            let isTop = ["Package.swift", ".git"].contains {
                FileManager.default.fileExists(atPath: folder.appending(path: $0).path)
            }
            if isTop || folder.pathComponents.count < 2 { return }
            folder.deleteLastPathComponent()
        }
    }

    /// How many folders are searched at most.
    private static let deepest = 16

    private mutating func take(_ file: URL, _ model: URL) {
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
            throw LockFileError(file: file.path, message: "The lock file is not UTF-8 text. Restore it, or remove it.")
        }
        return text
    }
}

extension LockedVersions {
    /// The versions before one, oldest first: those of a bundle, and before each of them what was locked under its name.
    ///
    /// - Parameters:
    ///   - earlier: Those of the bundle before the version, oldest first.
    ///   - later: Those of the bundle that are neither before it nor the version itself.
    ///   - isCurrent: Whether the version is the current one. Then what was locked under a name that is gone was before it.
    func merged(with earlier: [ManagedObjectModel], version: String, later: Set<String>, isCurrent: Bool)
        -> [ManagedObjectModel]
    {
        let positions = Dictionary(earlier.enumerated().map { ($1.version, $0) }) { first, _ in first }
        var chains = Array(repeating: [ManagedObjectModel](), count: earlier.count + 1)
        // The place of what comes after, for names that no bundle has.
        var place = isCurrent ? earlier.count : nil
        for locked in models.reversed() where !later.contains(locked.version) {
            if let position = locked.version == version ? earlier.count : positions[locked.version] {
                place = min(position, place ?? position)
            }
            guard let place else { continue }
            // What a release locked that wrote models in another way says nothing, and so does what is older.
            guard let model = locked.model else { break }
            chains[place].insert(model, at: 0)
        }
        return zip(chains, earlier).flatMap { $0 + [$1] } + chains[earlier.count]
    }
}

/// A configuration of a locked model. A store can be made for it alone, so it has a hash of its own.
package struct LockedConfiguration: Sendable, Equatable {
    package let name: String
    package let hash: ModelHash
    /// In the order of the model.
    package let entityNames: [String]

    /// Nil for a configuration that no store can be made for, because it leaves out what its entities need.
    init?(_ configuration: EntityConfiguration, of model: ManagedObjectModel) {
        do { hash = try model.restricted(toConfiguration: configuration.name).hash } catch { return nil }
        name = configuration.name
        entityNames = configuration.entityNames
    }

    static func isLine(_ line: some StringProtocol) -> Bool { line.hasPrefix("configuration ") }

    /// Reads ``line`` back; nil if this type would not write it.
    init?(_ line: String) {
        guard var words = TextWords(line), words.take("configuration"), let name = words.takeName(), words.take("hash"),
            let hash = words.takeWord().flatMap({ ModelHash($0) }), words.take("entities")
        else { return nil }
        self.name = name
        self.hash = hash
        entityNames = words.takeNames()
        guard words.isAtEnd else { return nil }
    }

    var line: String {
        "configuration \(name.quotedWord) hash \(hash) entities" + entityNames.map { " " + $0.quotedWord }.joined()
    }
}
