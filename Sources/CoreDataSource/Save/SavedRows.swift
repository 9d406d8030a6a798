internal import RowStore

/// One end of a link: the entity's index and the key of an object.
struct LinkEnd: Hashable {
    let entity: Int
    let key: Int64
}

/// A set of rows. Of each row, the key is known, or only the entity.
struct RowSet: Sendable {
    var keys: Set<LinkEnd> = []
    /// The entities of rows whose keys are not known. Any row of these entities may be in the set.
    var entities: Set<Int> = []

    var isEmpty: Bool { keys.isEmpty && entities.isEmpty }

    func mayContain(_ row: LinkEnd) -> Bool { entities.contains(row.entity) || keys.contains(row) }

    /// Keeps only the entities of the rows.
    mutating func forgetKeys() {
        entities.formUnion(keys.lazy.map(\.entity))
        keys = []
    }

    mutating func formUnion(_ other: RowSet) {
        keys.formUnion(other.keys)
        entities.formUnion(other.entities)
    }
}

/// The values of a row in the columns of a uniqueness constraint.
struct UniqueValues: Hashable {
    /// The entity that declares the constraint.
    let owner: Int
    let columns: [Int]
    let values: [RowValue]

    init(_ row: RowSnapshot, _ layout: EntityLayout, _ constraint: Int) {
        owner = layout.constraintOwners[constraint]
        columns = layout.constraints[constraint]
        values = columns.map { row.value($0, layout.columns[$0].storage) }
    }
}

/// The rows that a save has stored or deleted.
struct SavedRows: Sendable {
    /// The rows that were inserted or changed, and the rows of listed objects.
    private(set) var stored = RowSet()
    /// The rows that were inserted or linked to another row.
    private(set) var arrived = RowSet()
    /// The unique values of deleted rows. They identify an object, because it gets another key if it is inserted again.
    fileprivate var deleted: Set<UniqueValues> = []
    /// The entities of deleted rows without unique values.
    fileprivate var entities: Set<Int> = []
    /// The entities that declare the constraints of those deleted rows whose unique values were forgotten.
    fileprivate var forgottenOwners: Set<Int> = []

    init() {}

    /// Makes the rows of a save of which only the entities are known. Any rows of these entities may have been stored, linked
    /// or deleted.
    init(anyOf entities: some Sequence<Int>) {
        self.entities = Set(entities)
        (stored.entities, arrived.entities) = (self.entities, self.entities)
    }

    /// The rows that a save has inserted or linked. Rows without a column for their owner are left out, because a sweep does
    /// not delete them.
    init(arrived changes: ChangeSet, _ layout: ModelLayout) {
        for changes in changes.entities {
            let (entity, layout) = (changes.entity, layout.entities[changes.entity])
            if layout.links != nil || layout.linkColumns.isEmpty { continue }
            arrived.keys.formUnion(changes.inserted.lazy.map { LinkEnd(entity: entity, key: $0.key) })
            for row in changes.updated where layout.linkColumns.contains(where: row.columns.contains) {
                arrived.keys.insert(LinkEnd(entity: entity, key: row.key))
            }
        }
    }

    /// The rows that another member has saved.
    init(ofOtherMember changes: ChangeSet, _ layout: ModelLayout) {
        self.init(changes, layout)
        arrived = SavedRows(arrived: changes, layout).arrived
    }

    /// - Parameter listed: The rows of the objects that the answer lists, even if the save does not change them.
    init(_ changes: ChangeSet, listed: some Sequence<LinkEnd> = [], _ layout: ModelLayout) {
        stored.keys = Set(listed)
        for changes in changes.entities {
            let entity = changes.entity
            stored.keys.formUnion(changes.inserted.lazy.map { LinkEnd(entity: entity, key: $0.key) })
            stored.keys.formUnion(changes.updated.lazy.map { LinkEnd(entity: entity, key: $0.key) })
            for row in changes.deleted {
                let identities = SavedRows.identities(row.row, layout.entities[entity])
                if identities.isEmpty { entities.insert(entity) }
                deleted.formUnion(identities)
            }
        }
    }

    /// Whether any row was inserted or linked, or may have been.
    var hasArrivals: Bool { !arrived.isEmpty }

    /// Whether any row of the entities was stored or deleted, or may have been.
    func mayHaveRows(of entities: Set<Int>, _ layout: ModelLayout) -> Bool {
        if !entities.isDisjoint(with: stored.entities.union(self.entities)) { return true }
        if stored.keys.contains(where: { entities.contains($0.entity) }) { return true }
        let owners = Set(entities.lazy.flatMap { layout.entities[$0].constraintOwners })
        return !owners.isDisjoint(with: forgottenOwners) || deleted.contains { owners.contains($0.owner) }
    }

    /// The number of kept keys.
    var count: Int { stored.keys.count + arrived.keys.count + deleted.count }

    /// Keeps only the entities of the rows.
    mutating func forgetKeys() {
        stored.forgetKeys()
        arrived.forgetKeys()
        forgottenOwners.formUnion(deleted.lazy.map(\.owner))
        deleted = []
    }

    mutating func formUnion(_ other: SavedRows) {
        stored.formUnion(other.stored)
        arrived.formUnion(other.arrived)
        deleted.formUnion(other.deleted)
        entities.formUnion(other.entities)
        forgottenOwners.formUnion(other.forgottenOwners)
    }

    fileprivate static func identities(_ row: RowSnapshot, _ layout: EntityLayout) -> Set<UniqueValues> {
        let all = layout.constraints.indices.map { UniqueValues(row, layout, $0) }
        return Set(all.filter { !$0.values.contains(.null) })
    }
}

/// The rows of an answer, for a comparison with rows that others have saved. Each comparison looks up the rows of the smaller
/// side, so many small saves cost little even if the answer is large.
struct AnswerRows {
    /// The changed and deleted rows.
    private let changed: Set<LinkEnd>
    private let changedEntities: Set<Int>
    private var inserted: [(layout: EntityLayout, rows: [StoredRow])] = []
    private var insertedEntities: Set<Int> = []
    private lazy var identities = inserted.reduce(into: Set<UniqueValues>()) { identities, entity in
        for row in entity.rows { identities.formUnion(SavedRows.identities(row.row, entity.layout)) }
    }
    /// The number of comparisons.
    private(set) var comparisonCount = 0

    init(changed: Set<LinkEnd>) {
        self.changed = changed
        changedEntities = Set(changed.lazy.map(\.entity))
    }

    /// - Parameters:
    ///   - changes: The changes of the whole batch.
    ///   - answer: The rows that belong to the answer; nil if all rows do.
    init(_ changes: ChangeSet, _ answer: Set<LinkEnd>?, _ layout: ModelLayout) {
        var changed: Set<LinkEnd> = []
        for changes in changes.entities {
            changed.formUnion(changes.updated.lazy.map { LinkEnd(entity: changes.entity, key: $0.key) })
            changed.formUnion(changes.deleted.lazy.map { LinkEnd(entity: changes.entity, key: $0.key) })
        }
        self.init(changed: answer.map { changed.intersection($0) } ?? changed)
        for changes in changes.entities {
            let rows =
                answer.map { answer in
                    changes.inserted.filter { answer.contains(LinkEnd(entity: changes.entity, key: $0.key)) }
                } ?? changes.inserted
            if rows.isEmpty { continue }
            inserted.append((layout.entities[changes.entity], rows))
            insertedEntities.insert(changes.entity)
        }
    }

    /// Whether the answer changes or deletes any saved row, or inserts a row that was deleted. Also true if this is possible,
    /// but not known.
    ///
    /// **Complexity**: at most a look-up for each saved row, and for each row of the answer.
    mutating func mayReplaceAny(of saved: SavedRows) -> Bool {
        if !saved.stored.entities.isDisjoint(with: changedEntities) { return true }
        if !saved.entities.isDisjoint(with: insertedEntities) { return true }
        if !saved.forgottenOwners.isEmpty,
            inserted.contains(where: { !saved.forgottenOwners.isDisjoint(with: $0.layout.constraintOwners) })
        {
            return true
        }
        return overlap(saved.stored.keys, changed) || !saved.deleted.isEmpty && overlap(saved.deleted, identities)
    }

    /// Looks up the elements of the smaller set in the other.
    private mutating func overlap<Element>(_ one: Set<Element>, _ other: Set<Element>) -> Bool {
        let (few, many) = one.count < other.count ? (one, other) : (other, one)
        for element in few {
            comparisonCount += 1
            if many.contains(element) { return true }
        }
        return false
    }
}
