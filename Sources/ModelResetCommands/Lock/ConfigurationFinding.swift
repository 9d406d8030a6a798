internal import ManagedModel
internal import ModelMigration
internal import ModelReader

/// The result of comparing a configuration of a model with the lock file.
struct ConfigurationFinding {
    private let name: String
    let state: Finding.State
    private let hash: ModelHash?
    private let lockedHash: ModelHash?
    private var difference: LockDifference?

    /// One for each configuration that a store can be or could be made for, sorted by name.
    static func all(_ model: ManagedObjectModel, _ locked: LockedModel) -> [ConfigurationFinding] {
        let present = LockedModel(model, path: locked.path).configurations
        let names = Set((present + locked.configurations).map(\.name)).sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
        return names.map { name in
            ConfigurationFinding(
                name, model, present.first { $0.name == name }?.hash, locked,
                locked.configurations.first { $0.name == name }?.hash)
        }
    }

    private init(
        _ name: String, _ model: ManagedObjectModel, _ hash: ModelHash?, _ locked: LockedModel, _ lockedHash: ModelHash?
    ) {
        self.name = name
        self.hash = hash
        self.lockedHash = lockedHash
        guard let hash, let lockedHash else {
            state = hash == nil ? .gone : .new
            return
        }
        state = hash == lockedHash ? .unchanged : .changed
        guard state == .changed else { return }
        difference = LockDifference(from: part(of: locked.model), to: part(of: model.canonicalModel))
    }

    /// Nil for a model of another release.
    private func part(of model: ManagedObjectModel?) -> ManagedObjectModel? {
        do { return try model?.restricted(toConfiguration: name) } catch { return nil }
    }

    /// - Parameter isModelChanged: Whether the changes of the whole model are listed, of which these are a part.
    func lines(isModelChanged: Bool) -> [String] {
        switch state {
        case .new: return ["  configuration \(name): new"]
        case .gone: return ["  configuration \(name): gone; stores of it cannot be opened any more"]
        case .changed where isModelChanged: return ["  configuration \(name): changed, too"]
        case .changed:
            return ["  configuration \(name): stores of it made before are reset, unless they are migrated:"]
                + (difference?.lines ?? []).map { "  \($0)" }
        case .unchanged, .unreadable: return []
        }
    }

    var json: JSON {
        .object([
            ("name", .string(name)), ("state", .string(state.rawValue)), ("hash", .string(hash?.description)),
            ("lockedHash", .string(lockedHash?.description)), ("changes", .strings(difference?.changes ?? [])),
            ("migration", difference?.migrationJSON ?? .null),
        ])
    }
}
