internal import ManagedModel
internal import ModelMigration
internal import ModelReader

/// The result of comparing a model with the lock file.
struct Finding {
    enum State: String {
        case unchanged, changed, new, gone, unreadable
    }

    /// The path relative to the lock file's folder.
    let path: String
    /// The model as it is named on the command line.
    private let title: String
    let state: State
    private(set) var version: String?
    private var hash: ModelHash?
    private let locked: LockedModel?
    /// The changes, and what happens to stores; nil if there is nothing to compare.
    private var comparison: ModelComparison?
    /// Why there is no ``comparison`` although the models differ.
    private var remark: String?
    /// Whether the lock file has other renaming identifiers, which reset no store.
    private var hasNewIdentifiers = false
    /// Why the model cannot be read.
    private(set) var error: ModelReaderError?

    init(_ model: ManagedObjectModel, _ argument: ModelArgument, _ path: String, _ locked: LockedModel?) {
        self.path = path
        self.locked = locked
        title = argument.path
        version = model.version
        hash = model.hash
        guard let locked else {
            state = .new
            return
        }
        state = locked.hash == model.hash ? .unchanged : .changed
        hasNewIdentifiers = locked.renamingIdentifiers != RenamingIdentifiers(of: model)
        guard state == .changed else { return }
        guard let old = locked.model, let new = model.canonicalModel else {
            remark = "The lock file was written by another release, so the changes cannot be listed."
            return
        }
        let comparison = ModelComparison(from: old, to: new)
        if comparison.plan.changes.isEmpty {
            remark = "This release lays out the tables in another way."
        } else {
            self.comparison = comparison
        }
    }

    /// A model of the lock file that no longer exists.
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
                    + (hasNewIdentifiers ? ", except for its renaming identifiers; --update records them" : "")
            ]
        case .changed:
            ["\(title): changed (\(versions)); stores made before are reset, unless they are migrated:"]
                + (comparison?.lines ?? [remark].compactMap(\.self)).map { "  \($0)" }
        case .new:
            ["\(title): new (\(versions))" + (isFirst ? "" : "; it is not in the lock file")]
        case .gone:
            ["\(title): gone (\(versions)); it is still in the lock file"]
        case .unreadable:
            ["\(title): cannot be read"]
        }
    }

    private var versions: String {
        var names = [locked?.version, version].compactMap(\.self)
        if names.first == names.last { names = Array(names.prefix(1)) }
        return "version \(names.joined(separator: " -> "))"
    }

    var json: JSON {
        .object([
            ("path", .string(path)), ("version", .string(version)), ("lockedVersion", .string(locked?.version)),
            ("state", .string(state.rawValue)), ("hash", .string(hash?.description)),
            ("lockedHash", .string(locked?.hash.description)),
            ("changes", .strings(comparison?.plan.changes.map(\.description) ?? [remark].compactMap(\.self))),
            ("migration", comparison?.migrationJSON ?? .null), ("error", error.map { Failure($0).json } ?? .null),
        ])
    }
}
