/// Who may have a store open.
public enum StoreSharingMode: Sendable, Hashable {
    /// One container of one process. The default.
    case exclusive
    /// Any number of processes of one machine, with any number of containers each. All of them must open it with this mode.
    ///
    /// Each process adds, syncs, deletes, reads and follows the others, as <doc:SharingAStore> explains. The file must be on a
    /// local disk. The first container to open it may make, reset or migrate it; later ones throw `storeInUse` if they would
    /// have to.
    case processes
}
