extension PersistentStack {
    /// The container; nil once it is gone.
    var container: PersistentContainer? { holder.withLock { $0.object } as? PersistentContainer }

    func connect(_ container: PersistentContainer) { holder.withLock { $0 = WeakReference(container) } }
}
