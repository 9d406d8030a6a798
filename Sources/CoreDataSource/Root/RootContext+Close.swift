internal import RowStore

/// Closing.
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
    /// It is called where the last reference to a container is released, which may be on any thread, and inside a commit, a
    /// read or a hook. So it waits for nothing. What it cannot do at once is done on the root's queue.
    package func shutDown() {
        stopAccepting()
        store.willClose()
        failures.finish()
        while let group = state.withLock({ $0.log.takeForCommit() }) {
            // No caller is left to report a failure to.
            guard commit(group).isWritten else { break }
        }
        if !isCommitting, store.closeIfIdle() { return }
        betweenCommits {
            $0.log.committing == nil ? true : nil
        } then: { _ in
            self.commitLast()
            self.store.close()
        }
    }

    /// Commits what can be committed. Saves that wait for another program are tried as long as a call would wait.
    private func commitLast() {
        var isMore = true
        while isMore {
            while let group = state.withLock({ $0.log.takeForCommit() }) {
                guard commit(group).isWritten else { return }
            }
            isMore = state.withLock { $0.failure == nil && $0.log.resume() }
        }
    }

    /// Whether a commit is under way, or has to be tried again.
    private var isCommitting: Bool { state.withLock { $0.log.committing != nil || $0.log.isPostponing } }
}
