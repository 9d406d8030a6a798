/// Encodes the changes of a save as one blob of 64-bit words, and decodes the blob in another process.
///
/// Rows are copied unchanged, but without the values of transient attributes, which a store does not keep. The blob begins
/// with a signature of the columns, because another release of the app may have the same model with another order of
/// attributes. For a reader that has another signature, the changes are unknown.
package struct ChangeEncoding: Sendable {
    private let layout: ModelLayout
    /// A hash of the names, the storage and the order of all entities and columns.
    package let signature: UInt64
    private let shapes: [RowShape]
    /// The stored columns of each entity; nil if all columns of the entity are stored.
    private let storedColumns: [[Int]?]

    /// The maximum number of rows in a save whose changes are encoded.
    package static let rowLimit = 4096
    /// The maximum size of these rows, in bytes.
    package static let byteLimit = 4 << 20

    package init(_ layout: ModelLayout) {
        self.layout = layout
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func combine(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        for entity in layout.entities {
            for byte in entity.name.utf8 { combine(byte) }
            combine(0)
            for column in entity.columns {
                for byte in column.name.utf8 { combine(byte) }
                combine(column.storage.rawValue)
                combine(column.isStored ? 1 : 2)
            }
            combine(0xFF)
        }
        signature = hash
        shapes = layout.entities.map { RowShape(storages: $0.storages) }
        storedColumns = layout.entities.map { entity in
            entity.storedColumns.count == entity.columns.count ? nil : entity.storedColumns
        }
    }

    // MARK: Writing

    /// Encodes the changes. Returns nil if there are too many rows or bytes. The bytes of transient attributes count, too.
    package func words(_ changes: ChangeSet) -> ContiguousArray<UInt64>? {
        // Check the limits first, so that large changes are never copied.
        guard changes.rowCount <= ChangeEncoding.rowLimit, wordCount(changes) * 8 <= ChangeEncoding.byteLimit else {
            return nil
        }
        var words = allWords(changes)
        if let facts = changes.facts { facts.append(to: &words) }
        return words
    }

    /// Encodes the changes, however large they are.
    package func allWords(_ changes: ChangeSet) -> ContiguousArray<UInt64> {
        var words: ContiguousArray<UInt64> = [signature]
        for entity in changes.entities {
            let start = words.count
            words.append(UInt64(entity.entity))
            words.append(UInt64(entity.inserted.count))
            words.append(0)
            words.append(UInt64(entity.deleted.count))
            for row in entity.inserted { append(row.key, row.row, of: entity.entity, to: &words) }
            var updated: UInt64 = 0
            for row in entity.updated where append(row, entity.entity, &words) { updated += 1 }
            words[start + 2] = updated
            for row in entity.deleted { append(row.key, row.row, of: entity.entity, to: &words) }
        }
        return words
    }

    /// Returns the names of the entities that a save changes, for the feed. Used if the changes are too large to be encoded.
    package func names(_ changes: ChangeSet) -> String {
        changes.entities.map { layout.entities[$0.entity].name }.joined(separator: "\n")
    }

    private func wordCount(_ changes: ChangeSet) -> Int {
        changes.entities.reduce(0) { total, entity in
            let single = (entity.inserted + entity.deleted).reduce(0) { $0 + $1.row.wordCount }
            return total + entity.updated.reduce(single) { $0 + $1.row.wordCount + $1.previous.wordCount }
        }
    }

    private func append(_ key: Int64, _ row: RowSnapshot, of entity: Int, to words: inout ContiguousArray<UInt64>) {
        words.append(UInt64(bitPattern: key))
        append(row, entity, &words)
    }

    private func append(_ row: RowSnapshot, _ entity: Int, _ words: inout ContiguousArray<UInt64>) {
        let stored = storedColumns[entity].map { row.keeping($0, layout.entities[entity]) } ?? row
        words.append(UInt64(stored.wordCount))
        // In memory, the first word of a row also has the number of words. In a blob, it has only the number of columns.
        words.append(UInt64(stored.columnCount))
        stored.withWords { words.append(contentsOf: $0.dropFirst()) }
    }

    /// - Returns: Whether a stored value has changed. If not, the row is not appended.
    private func append(_ row: UpdatedRow, _ entity: Int, _ words: inout ContiguousArray<UInt64>) -> Bool {
        let columns = layout.entities[entity].columns
        var mask = ContiguousArray<UInt64>(repeating: 0, count: (columns.count + 63) / 64)
        for index in columns.indices where columns[index].isStored && row.columns.contains(index) {
            mask[index >> 6] |= 1 << UInt64(index & 63)
        }
        guard mask.contains(where: { $0 != 0 }) else { return false }
        words.append(UInt64(bitPattern: row.key))
        words.append(contentsOf: mask)
        append(row.row, entity, &words)
        append(row.previous, entity, &words)
        return true
    }

    // MARK: Reading

    /// Returns the words of a blob. Copies the bytes, because words need aligned addresses and the bytes of a blob may have any
    /// alignment.
    package static func words(_ bytes: UnsafeRawBufferPointer) -> ContiguousArray<UInt64> {
        let count = bytes.count / 8
        return ContiguousArray(unsafeUninitializedCapacity: count) { buffer, initialized in
            UnsafeMutableRawBufferPointer(buffer).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: bytes[..<(count * 8)]))
            initialized = count
        }
    }

    /// Decodes the changes. Returns nil if the words belong to a model with other columns, or if they are damaged.
    package func changes(_ words: UnsafeBufferPointer<UInt64>) -> ChangeSet? {
        words.first == signature ? ChangeEncoding.changes(words, shapes) : nil
    }

    /// Decodes changes of the same model whose old rows may lack large values: see ``changes(_:_:allowsOmittedValues:)``.
    func changesWithOmittedValues(_ words: UnsafeBufferPointer<UInt64>) -> ChangeSet? {
        words.first == signature ? ChangeEncoding.changes(words, shapes, allowsOmittedValues: true) : nil
    }

    /// Decodes the changes of rows. There is one shape for each entity. Returns nil if the words are damaged.
    ///
    /// - Parameter allowsOmittedValues: Whether the old row of an update is valid if it has the sizes, but not the bytes, of blobs
    ///   that the update has not changed.
    package static func changes(
        _ words: UnsafeBufferPointer<UInt64>, _ shapes: [RowShape], allowsOmittedValues: Bool = false
    ) -> ChangeSet? {
        var reader = WordReader(words: words, position: 1, allowsOmittedValues: allowsOmittedValues)
        var changes = ChangeSet(entities: [])
        while !reader.isAtEnd {
            if reader.takeMark() {
                guard let facts = reader.facts() else { return nil }
                changes.facts = facts
                continue
            }
            guard let entity = entity(&reader, shapes) else { return nil }
            if !entity.isEmpty { changes.entities.append(entity) }
        }
        return changes
    }

    private static func entity(_ reader: inout WordReader, _ shapes: [RowShape]) -> EntityChanges? {
        guard let number = reader.count(below: shapes.count), let inserted = reader.count(),
            let updated = reader.count(), let deleted = reader.count()
        else { return nil }
        let shape = shapes[number]
        var changes = EntityChanges(entity: number)
        for _ in 0..<inserted {
            guard let row = reader.row(shape) else { return nil }
            changes.inserted.append(row)
        }
        for _ in 0..<updated {
            guard let row = reader.updatedRow(shape) else { return nil }
            changes.updated.append(row)
        }
        for _ in 0..<deleted {
            guard let row = reader.row(shape) else { return nil }
            changes.deleted.append(row)
        }
        return changes
    }
}

/// Decodes the saves in a store's feed for the container.
package struct FeedDecoder {
    private let layout: ModelLayout
    private let encoding: ChangeEncoding
    private var members: [Int64: StoreMember] = [:]

    package init(_ layout: ModelLayout) {
        self.layout = layout
        encoding = ChangeEncoding(layout)
    }

    /// - Parameters:
    ///   - member: The number of the member that made the save.
    ///   - unknown: The names of the changed entities, as from ``ChangeEncoding/names(_:)``; nil if the feed has the changes.
    ///   - changes: The bytes of the encoded changes.
    ///   - all: Reads the members that are listed in the store.
    package mutating func event(
        by member: Int64, unknown: String?, changes: UnsafeRawBufferPointer,
        _ all: () throws(DataSourceError) -> [StoreMember]
    ) throws(DataSourceError) -> FeedEvent {
        if let unknown { return .unknown(entities(named: unknown)) }
        guard var decoded = ChangeEncoding.words(changes).withUnsafeBufferPointer(encoding.changes) else {
            return .unknown(nil)
        }
        if members[member] == nil {
            members = Dictionary(try all().map { ($0.number, $0) }) { _, last in last }
        }
        decoded.member = members[member] ?? StoreMember(ended: member)
        return .changes(decoded)
    }

    /// Returns the indexes of the entities and links with these names. Returns nil, which stands for all entities, if a name is
    /// not known.
    private func entities(named names: String) -> Set<Int>? {
        var found: Set<Int> = []
        for name in names.split(separator: "\n") {
            // `entity(named:)` does not find links.
            let index = layout.entity(named: String(name))?.index
            guard let index = index ?? layout.entities.firstIndex(where: { $0.links != nil && $0.name == name })
            else { return nil }
            found.insert(index)
        }
        return found
    }
}

extension SaveFacts {
    /// The word before the facts of a save. No entity has this number. So an earlier release of the library, which does not
    /// know the facts, counts the changes as unknown, and reads the rows again.
    fileprivate static let mark = UInt64.max
    /// The maximum total size of the strings, in bytes.
    private static let byteLimit = 4096

    /// Appends the kind, the data source and the author, unless they are too long. For a string, appends its number of bytes
    /// plus 1, and then its bytes. For nil, appends 0.
    fileprivate func append(to words: inout ContiguousArray<UInt64>) {
        let strings = [kind.rawValue, dataSourceName, author]
        guard strings.reduce(0, { $0 + ($1?.utf8.count ?? 0) }) <= SaveFacts.byteLimit else { return }
        words.append(SaveFacts.mark)
        for string in strings {
            guard let string else {
                words.append(0)
                continue
            }
            let bytes = Array(string.utf8)
            words.append(UInt64(bytes.count + 1))
            for start in stride(from: 0, to: bytes.count, by: 8) {
                let part = bytes[start..<min(start + 8, bytes.count)]
                words.append(part.reversed().reduce(0) { $0 << 8 | UInt64($1) })
            }
        }
    }
}

/// Reads words in order, and stops at the last word.
private struct WordReader {
    let words: UnsafeBufferPointer<UInt64>
    var position: Int
    let allowsOmittedValues: Bool

    var isAtEnd: Bool { position >= words.count }

    mutating func word() -> UInt64? {
        guard position < words.count else { return nil }
        defer { position += 1 }
        return words[position]
    }

    /// Skips the next word if it is the mark of a save's facts. Returns whether it is.
    mutating func takeMark() -> Bool {
        guard position < words.count, words[position] == SaveFacts.mark else { return false }
        position += 1
        return true
    }

    mutating func facts() -> SaveFacts? {
        guard let kind = string() ?? nil, let source = string(), let author = string() else { return nil }
        return SaveFacts(HistoryKind(rawValue: kind), dataSourceName: source, author: author)
    }

    /// Reads an optional string. The outer optional of the result is nil if the words are damaged.
    private mutating func string() -> String?? {
        guard let word = word() else { return nil }
        if word == 0 { return .some(nil) }
        guard word - 1 <= UInt64(words.count - position) * 8 else { return nil }
        let count = Int(word - 1)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count, let word = self.word() {
            for byte in 0..<min(8, count - bytes.count) {
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(byte * 8)))
            }
        }
        return String(validating: bytes, as: UTF8.self).map { .some($0) }
    }

    /// Reads a count or an index, which must be below the limit. Without a limit, the value must be below the number of words,
    /// because each element takes at least one word.
    mutating func count(below limit: Int? = nil) -> Int? {
        guard let word = word(), word < UInt64(limit ?? words.count) else { return nil }
        return Int(word)
    }

    mutating func row(_ shape: RowShape) -> StoredRow? {
        guard let key = word(), let row = snapshot(shape) else { return nil }
        return StoredRow(key: Int64(bitPattern: key), row: row)
    }

    mutating func updatedRow(_ shape: RowShape) -> UpdatedRow? {
        guard let key = word() else { return nil }
        var columns = ColumnSet()
        for start in stride(from: 0, to: shape.storages.count, by: 64) {
            guard let mask = word() else { return nil }
            for bit in 0..<min(64, shape.storages.count - start) where mask & (1 << UInt64(bit)) != 0 {
                columns.insert(start + bit)
            }
        }
        let (changed, mayOmit) = (columns, allowsOmittedValues)
        guard let row = snapshot(shape),
            let previous = snapshot(shape, omitting: { mayOmit && !changed.contains($0) })
        else { return nil }
        return UpdatedRow(key: Int64(bitPattern: key), row: row, previous: previous, columns: columns)
    }

    private mutating func snapshot(
        _ shape: RowShape, omitting mayBeOmitted: (Int) -> Bool = { _ in false }
    ) -> RowSnapshot? {
        guard let count = count(), count <= words.count - position else { return nil }
        defer { position += count }
        let packed = UnsafeBufferPointer(rebasing: words[position..<position + count])
        return shape.isRow(packed, omitting: mayBeOmitted) ? RowSnapshot(packed: packed) : nil
    }
}

extension RowSnapshot {
    /// Returns the row with nulls in all columns except the given columns.
    func keeping(_ kept: [Int], _ layout: EntityLayout) -> RowSnapshot {
        var row = RowSnapshot(columnCount: columnCount)
        for column in kept where !isNull(column) {
            switch layout.columns[column].storage {
            case .integer, .real: row.setWord(word(column), column)
            case .blob where isDeferred(column): row.setWord(word(column), column)
            case .text, .blob: withBytes(column) { row.setBytes($0, column) }
            }
        }
        return row
    }
}

/// The storage of each column of a row.
package struct RowShape: Sendable {
    package let storages: ContiguousArray<ColumnStorage>

    package init(storages: ContiguousArray<ColumnStorage>) {
        self.storages = storages
    }

    /// Returns whether words from a file are a valid row of this shape.
    ///
    /// - Parameter mayBeOmitted: Returns whether a row is valid if it has the size, but not the bytes, of the blob in a column.
    fileprivate func isRow(_ words: UnsafeBufferPointer<UInt64>, omitting mayBeOmitted: (Int) -> Bool) -> Bool {
        let firstSlot = RowSnapshot.firstSlot(storages.count)
        guard words.first == UInt64(storages.count), words.count >= RowSnapshot.headWords(storages.count) else {
            return false
        }
        return storages.indices.allSatisfy { column in
            switch storages[column] {
            case .integer, .real: return true
            case .text, .blob:
                let word = words[firstSlot + column]
                if storages[column] == .blob, RowSnapshot.isDeferred(word: word), mayBeOmitted(column) { return true }
                let (start, count) = (Int(word >> 32), Int(word & 0xFFFF_FFFF))
                // The bytes must not overlap the head of the row: a change of the bytes would overwrite the head.
                if count > 0, start < RowSnapshot.headWords(storages.count) { return false }
                return start * 8 + count <= words.count * 8
            }
        }
    }
}
