internal import RowStore

extension MainTier {
    /// A context for a draft, under a number of its own.
    func beginDraft() -> (number: Int, context: DraftContext) {
        // From now on main merges every save, and so does the draft.
        prepareToFetch()
        let number = nextDraft()
        let context = DraftContext(stack) { [weak self] in self?.prepareToFetch() }
        drafts[number] = context
        return (number, context)
    }

    /// Passes on to the drafts what main has merged.
    func mergeDrafts(_ saves: [ChangeSet], isReset: Bool, isStale: Bool, changesLinks: Bool) {
        for draft in drafts.values {
            if isReset { draft.forgetSaved() }
            if changesLinks { draft.related.removeAll() }
            for changes in saves {
                for entity in changes.entities { draft.follow(entity, asOf: changes.number) }
            }
            if isStale { draft.mustReload = true }
            draft.reload()
        }
    }

    func endDraft(_ number: Int) {
        drafts.removeValue(forKey: number)?.end()
    }
}
