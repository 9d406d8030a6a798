internal import RowStore

/// Events that contexts must take in before they continue.
extension RootContext {
    /// How far the feed has come.
    package var feedPosition: FeedPosition {
        state.withLock { FeedPosition(generation: $0.log.generation, number: $0.feed.position) }
    }

    /// What has happened since a position; nil if nothing has.
    package func news(since known: FeedPosition) -> (position: FeedPosition, events: [FeedEvent])? {
        state.withLock { state in
            let position = FeedPosition(generation: state.log.generation, number: state.feed.position)
            if position == known { return nil }
            let isReset = position.generation != known.generation
            return (position, isReset ? [.unknown(nil)] : state.feed.events(after: known.number))
        }
    }

    /// Checks whether another program has written to the store, and makes all followers take that in.
    ///
    /// A server that is shared is not asked: it notifies, a read takes in first what it can see (``follow(to:)``), and a batch what
    /// it may rely on (``LeaseKeeper/follow(before:)``).
    package func noticeOutsideWrites() {
        if store.isRemote, store.sharing != nil { return }
        if store.sharing != nil {
            // If this fails, a read or a commit throws the error.
            try? follow()
        } else if store.canBeWrittenOutside, store.noticeOutsideWrites() {
            didFindOutsideWrites()
        }
    }

    func didFindOutsideWrites() {
        raiseKeys.withLock { $0 }?(store.firstFreeKey)
        state.withLock { $0.noteOutsideWrites() }
        wakeMainIfListening()
    }

    /// Checks for writes of other programs repeatedly while main shows anything.
    func followOutsideWrites() {
        guard store.canBeWrittenOutside else { return }
        let isFirst = state.withLock { state in
            defer { state.isFollowingOutsideWrites = true }
            return !state.isFollowingOutsideWrites
        }
        if isFirst { lookAgainLater() }
    }

    private func lookAgainLater() {
        scheduling.after(.milliseconds(500)) { [weak self] in
            guard let self else { return }
            let goesOn = self.state.withLock { state in
                state.isFollowingOutsideWrites = !state.isClosed && state.log.merged != nil
                return state.isFollowingOutsideWrites
            }
            guard goesOn else { return }
            self.noticeOutsideWrites()
            self.lookAgainLater()
        }
    }
}
