/// How far a save must get before a call returns.
///
/// ```swift
/// try await contacts.add(Contact(uid: "4", name: "Zhao Yun"), waitFor: .main)
/// try await container.flush()
/// ```
public struct SaveLevel: Sendable, Hashable {
    private let rawValue: Int

    /// The rows are in the store, as safe as ``PersistentContainer/Configuration/synchronous`` makes them. If the call was made
    /// on the main actor, the objects and lists of main show them too.
    public static let store = SaveLevel(rawValue: 2)
    /// The main context and its lists show the rows, which will be in the store soon. If the disk fails then, the save is tried
    /// again; ``AnyDataSource/handleError(_:)``, ``PersistentContainer/failures`` and `flush()` report it.
    public static let main = SaveLevel(rawValue: 1)
}
