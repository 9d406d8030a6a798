internal import RowStore

/// Every edit is made here. Setting the value that is already there changes nothing, but it has to be allowed all the same: whether
/// an edit is a mistake must not depend on the values.
extension ManagedObject {
    final func setNull(_ column: Int) {
        checkIsEditable(column)
        if row.isNull(column) || !beginEdit(column) { return }
        row.setNull(column)
        didEdit(column)
    }

    final func setWord(_ word: UInt64, _ column: Int) {
        checkIsEditable(column)
        if !row.isNull(column) && row.word(column) == word || !beginEdit(column) { return }
        row.setWord(word, column)
        didEdit(column)
    }

    /// Sets a real; negative zero becomes zero, as in SQLite. NaN cannot be stored, so the save will throw.
    final func setReal(_ value: Double, _ column: Int) {
        if value.isNaN {
            checkIsEditable(column)
            if beginEdit(column) {
                home.context?.refuseNaN(self, column)
                if editing == .inDraft { draft.didChange(self) }
            }
            return
        }
        setWord(value == 0 ? 0 : value.bitPattern, column)
    }

    final func setBytes(_ bytes: UnsafeRawBufferPointer, _ column: Int) {
        checkIsEditable(column)
        if row.holds(bytes, column: column) || !beginEdit(column) { return }
        row.setBytes(bytes, column)
        didEdit(column)
    }

    final func setValue(_ value: RowValue, _ column: Int) {
        checkIsEditable(column)
        if row.holds(value, column: column) || !beginEdit(column) { return }
        row.setValue(value, column)
        didEdit(column)
    }

    /// Traps for an object that nobody may edit, whatever the value is.
    @inline(__always)
    private func checkIsEditable(_ column: Int) {
        switch editing {
        case .inBatch: break
        case .inDraft: draft.checkInBatch()
        case .not:
            preconditionFailure(
                "\(layout.name).\(layout.columns[column].name) was set on an object of the main context or of container.read, which is read-only. Edit the object in a hook or in perform { } of its data source, or a copy of it in a draft."
            )
        }
    }

    /// Notes that a value is about to be set.
    ///
    /// - Returns: False for a deleted object: it keeps its values, and the save throws.
    private func beginEdit(_ column: Int) -> Bool {
        switch state {
        case .inserted, .edited, .saved: break
        case .deleted, .gone:
            home.context?.refuseEditOfDeleted(self, column)
            return false
        }
        if editing == .inDraft { draft.willChange(self) }
        if state == .saved {
            home.context?.willEdit(self)
            saved = row
            state = .edited
        }
        return true
    }

    /// The context of an object of a draft.
    final var draft: any ObjectContext {
        guard let draft = home.context else {
            preconditionFailure(
                "An object of \(layout.name) was edited after its draft had ended. Keep a reference to the draft while its objects are edited, and make a new draft after discard()."
            )
        }
        return draft
    }

    private func didEdit(_ column: Int) {
        if layout.uniqueColumns.contains(column) {
            checkedConstraint = -1
            home.context?.indexUniqueValue(of: self, column)
        }
        if isIndexedByValues { home.context?.indexValue(of: self, column) }
        if editing == .inDraft { draft.didChange(self) }
    }

    /// The row as it was last saved.
    final var savedRow: RowSnapshot { saved ?? row }

    /// Gives an edited object the row that was last saved. It stays among the changed objects of its context until the batch ends.
    final func restoreSavedRow() {
        if state == .edited, let saved { row = saved }
    }

    /// Replaces the row by a newer one from elsewhere, or by a whole one.
    final func refresh(_ newer: RowSnapshot, asOf number: Int64) {
        guard number > asOf || number == asOf && hasValuesApart && !layout.hasValuesApart(newer) else { return }
        if holdsValuesApart(of: newer) { return }
        row = newer
        asOf = number
    }
}
