internal import RowStore

/// The end.
extension RootContext {
    /// Closes the store, once the commit that is under way has ended. It is for a container that is still there, and takes no
    /// more saves.
    func closeStore() async {
        await withCheckedContinuation { continuation in
            betweenCommits {
                $0.log.committing == nil ? true : nil
            } then: { _ in
                self.store.close()
                continuation.resume()
            }
        }
    }

    /// Writes what is pending, and closes the store.
    ///
    /// It is called where the last reference to a container goes, which may be any thread, and inside of anything: a commit,
    /// a read, a hook. So it waits for nobody. What it cannot do at once is done on the root's queue.
    package func shutDown() {
        stopAccepting()
        store.willClose()
        failures.finish()
        while let group = state.withLock({ $0.log.takeForCommit() }) {
            // There is nobody left to tell of a failure.
            guard commit(group).isWritten else { break }
        }
        if !isCommitting, store.closeIfIdle() { return }
        betweenCommits {
            $0.log.committing == nil ? true : nil
        } then: { _ in
            while let group = self.state.withLock({ $0.log.takeForCommit() }), self.commit(group).isWritten {}
            self.store.close()
        }
    }

    private var isCommitting: Bool { state.withLock { $0.log.committing != nil } }
}
