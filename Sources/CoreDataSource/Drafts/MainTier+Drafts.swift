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

    func endDraft(_ number: Int) {
        drafts.removeValue(forKey: number)?.end()
    }
}
