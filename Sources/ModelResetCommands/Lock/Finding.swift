internal import ManagedModel
internal import ModelCodeGenerator
internal import ModelMigration
internal import ModelReader

/// The result of comparing a model with the lock file.
struct Finding {
    enum State: String {
        case unchanged, changed, new, gone, unreadable
    }

    /// The path relative to the lock file's folder.
    let path: String
    /// The path of the model as on the command line; for a model that no longer exists, the path in the lock file.
    private let title: String
    let state: State
    private(set) var version: String?
    private var hash: ModelHash?
    private let locked: LockedModel?
    /// The differences in the whole model, and what happens to its stores; nil without differences.
    private var difference: LockDifference?
    /// The results for the configurations in the model and in the lock file.
    private var configurations: [ConfigurationFinding] = []
    /// The changes of rules and default values. These changes reset no store.
    private var rules: [String] = []
    /// Whether the model has other renaming identifiers than the lock file. Such a difference resets no store.
    private var hasNewIdentifiers = false
    /// Whether a transformable attribute has another type than in the lock file. Such a difference resets no store.
    private var hasNewTypes = false
    /// Warnings about changes that do not reset a store, but can lose values.
    private(set) var warnings: [String] = []
    /// The error from reading the model.
    private(set) var error: ModelReaderError?

    init(_ model: ManagedObjectModel, _ argument: ModelArgument, path: String, locked: LockedModel?) {
        self.path = path
        self.locked = locked
        title = argument.path
        version = model.version
        hash = model.hash
        guard let locked else {
            state = .new
            return
        }
        configurations = ConfigurationFinding.all(model, locked)
        if locked.hash != model.hash { difference = LockDifference(from: locked.model, to: model.canonicalModel) }
        state = difference == nil && configurations.allSatisfy { $0.state == .unchanged } ? .unchanged : .changed
        rules = locked.rules.changes(to: ModelRules(of: model), of: [locked.model, model])
        hasNewIdentifiers = locked.renamingIdentifiers != RenamingIdentifiers(of: model)
        let advice =
            argument.isSwift ? "pass its old name in earlierVersions:" : "keep the earlier versions in the bundle"
        warnings = locked.droppedIdentifiers(in: model).map {
            "\($0) has lost its renaming identifier: if a store from before the renaming is migrated, these values are lost. Keep the identifier, or \(advice)."
        }
        if argument.isSwift { warnings += Finding.missingVersions(in: model, locked) }
        let types = locked.transformableTypes.changes(to: TransformableTypes(of: model))
        hasNewTypes = !types.isEmpty
        warnings += types.map {
            "\($0) resets no store: values that cannot be decoded as the new type read as nil. Decode the old values, too, or give the new type to a new attribute."
        }
    }

    /// The warning that a model in Swift needs names of earlier versions, which the lock file contains but the model
    /// does not pass.
    private static func missingVersions(in model: ManagedObjectModel, _ locked: LockedModel) -> [String] {
        let needed = locked.earlierVersions(neededBy: model)
        let isKnown = needed.allSatisfy { version in
            version.hashes.allSatisfy { hash in
                model.earlierVersions.first { $0.hashes.contains(hash) }.map { $0.hasNames(of: version) } ?? false
            }
        }
        if isKnown { return [] }
        if let identifiers = locked.identifiers(neededBy: model) {
            let list = identifiers.map { "renamedFrom: \"\($0.identifier)\" for \($0)" }
            return [
                "if a store of an earlier version is migrated, values are lost, because a renaming identifier must be the first name in all later versions. Write \(list.joined(separator: ", "))."
            ]
        }
        return [
            "if a store of an earlier version is migrated, values are lost or get into other properties, because a name was used again. Pass the earlier names to \(model.name): \(ModelSourceWriter.argument(for: needed))"
        ]
    }

    /// Makes the finding for a model that is in the lock file but no longer exists.
    init(gone locked: LockedModel) {
        path = locked.path
        title = locked.path
        self.locked = locked
        state = .gone
    }

    init(unreadable argument: ModelArgument, _ path: String, _ error: ModelReaderError, _ locked: LockedModel?) {
        self.path = path
        title = argument.path
        self.locked = locked
        self.error = error
        state = .unreadable
    }

    /// - Parameter isFirst: Whether there is no lock file yet.
    func lines(isFirst: Bool) -> [String] {
        switch state {
        case .unchanged:
            [
                "\(title): unchanged (\(versions))"
                    + (unrecorded.isEmpty
                        ? "" : ", except for its \(unrecorded.joined(separator: " and ")); --update records them")
            ] + rules.map { "  \($0)" }
        case .changed:
            (difference.map { difference in
                ["\(title): changed (\(versions)); stores made before are reset, unless they are migrated:"]
                    + difference.lines
            } ?? ["\(title): changed (\(versions)), in its configurations alone:"])
                + configurations.flatMap { $0.lines(isModelChanged: difference != nil) } + ModelRules.lines(rules)
        case .new:
            ["\(title): new (\(versions))" + (isFirst ? "" : "; it is not in the lock file")]
        case .gone:
            ["\(title): gone (\(versions)); it is still in the lock file"]
        case .unreadable:
            ["\(title): cannot be read"]
        }
    }

    /// The kinds of differences that do not change the hash.
    private var unrecorded: [String] {
        (rules.isEmpty ? [] : ["rules"]) + (hasNewIdentifiers ? ["renaming identifiers"] : [])
            + (hasNewTypes ? ["types of transformables"] : [])
    }

    private var versions: String {
        var names = [locked?.version, version].compactMap(\.self)
        if names.first == names.last { names = Array(names.prefix(1)) }
        return "version \(names.joined(separator: " -> "))"
    }

    var members: [(String, JSON)] {
        [
            ("path", .string(path)), ("version", .string(version)), ("lockedVersion", .string(locked?.version)),
            ("state", .string(state.rawValue)), ("hash", .string(hash?.description)),
            ("lockedHash", .string(locked?.hash.description)),
            ("changes", .strings(difference?.changes ?? [])), ("rules", .strings(rules)),
            ("migration", difference?.migrationJSON ?? .null),
            ("warnings", .strings(warnings)), ("configurations", .list(configurations.map(\.json))),
            ("error", error.map { Failure($0).json } ?? .null),
        ]
    }
}

extension ModelRules {
    /// Returns the lines for changes of rules. These lines follow the lines for other changes.
    static func lines(_ changes: [String]) -> [String] {
        changes.isEmpty ? [] : ["  no store is reset because of these:"] + changes.map { "    \($0)" }
    }
}

extension EarlierVersion {
    /// Whether this version lists all names of the other version. This version can list further properties.
    fileprivate func hasNames(of other: EarlierVersion) -> Bool {
        entityNames == other.entityNames && other.propertyNames.allSatisfy { propertyNames[$0.key] == $0.value }
    }
}
