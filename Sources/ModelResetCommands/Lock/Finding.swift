internal import ManagedModel

/// How a model compares with the lock file.
struct Finding {
    enum State: String {
        case unchanged, changed, new, gone
    }

    var path: String
    var version: String?
    var hash: ModelHash?
    var lockedHash: ModelHash?
    var state: State
    /// What changed, in words.
    var changes: [String] = []

    init(_ model: ManagedObjectModel, _ path: String, _ locked: LockedModel?) {
        self.path = path
        version = model.version
        hash = model.hash
        lockedHash = locked?.hash
        changes = locked?.changes(to: model) ?? []
        state = lockedHash == nil ? .new : lockedHash == hash ? .unchanged : .changed
    }

    /// A model of the lock file that is not there any more.
    init(gone locked: LockedModel) {
        path = locked.path
        lockedHash = locked.hash
        state = .gone
    }

    var lines: [String] {
        switch state {
        case .unchanged: ["\(path): unchanged"]
        case .changed: ["\(path): changed; stores that were made before are reset:"] + changes.map { "  \($0)" }
        case .new: ["\(path): new; it is not in the lock file"]
        case .gone: ["\(path): gone; it is still in the lock file"]
        }
    }

    var json: JSON {
        .object([
            ("path", .string(path)), ("version", .string(version)), ("state", .string(state.rawValue)),
            ("hash", .string(hash?.description)), ("lockedHash", .string(lockedHash?.description)),
            ("changes", .strings(changes)),
        ])
    }
}
