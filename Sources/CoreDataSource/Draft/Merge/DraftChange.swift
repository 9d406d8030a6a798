internal import Foundation
internal import RowStore

/// A value that another save has changed since a draft read the value, with the draft's value and the original value.
///
/// ```swift
/// for conflict in try draft.conflicts() {
///     print(conflict, conflict.mine ?? "nil", conflict.theirs ?? "nil")
/// }
/// ```
///
/// Values have the types of the model, such as `String`, `Int32` or `Date`. The value of a to-one relationship is a
/// ``ManagedObjectID``. The value of an order is an array of ``ManagedObjectID``. Nil means no value.
public struct DraftChange: Sendable {
    /// The kind of the value. A release may add new kinds, so a switch over kinds needs a default branch.
    public enum Kind: Sendable, Hashable {
        /// An attribute.
        case attribute
        /// The destination of a to-one relationship.
        case relationship
        /// The order of a relationship's objects.
        case order
        /// The draft edits an object that another save has deleted.
        case deletedByOthers
        /// The draft deletes an object, directly or by a delete rule, but another save has edited the object. Or another save
        /// has linked the object to an object that the draft deletes, and this deletion cascades. A revert deletes the
        /// objects that its record has inserted. A revert also reports this conflict if another save has linked other objects
        /// to such an object since.
        case deletedHere
        /// A revert, an undo or a redo would give unique values to an object, but another object has these values now. The
        /// ``ManagedObjectID`` of the other object is ``DraftChange/theirs``.
        case takenByOthers
    }

    /// The side of a conflict whose value is kept.
    public enum Choice: Sendable, Hashable {
        /// The draft's side. An object that another save has deleted is inserted again, with the draft's attributes and the
        /// to-one links in the object's own row. If another object of the same entity has unique values of a deleted object,
        /// a revert cannot insert the deleted object again. The other object then gets all attributes and the links of the
        /// deleted object.
        case mine
        /// The side of the other saves. If a revert therefore does not insert an object again, the revert also leaves out the
        /// links to this object, and the objects that require such a link. If a revert does not delete an object, the objects
        /// to which this object is linked stay, too.
        case theirs
    }

    /// The ID of the object.
    public let objectID: ManagedObjectID
    /// The name of the object's entity.
    public var entityName: String { objectID.entityName }
    /// The name of the attribute or relationship; nil if the change concerns the whole object.
    public let propertyName: String?
    /// The kind of the value.
    public let kind: Kind
    /// The original value: the value that the draft read.
    public let base: (any Sendable)?
    /// The value in the draft.
    public let mine: (any Sendable)?
    /// The value of the newest save.
    public let theirs: (any Sendable)?
    /// The side whose value was kept; nil while the conflict is not decided.
    public internal(set) var choice: Choice?
    /// Whether the draft's side can be saved.
    var canKeepMine = true
    /// Whether the draft's value is a link to an object that another save has deleted.
    private var leadsToDeletedObject = false

    init(
        _ objectID: ManagedObjectID, _ propertyName: String?, _ kind: Kind, base: (any Sendable)? = nil,
        mine: (any Sendable)? = nil, theirs: (any Sendable)? = nil
    ) {
        self.objectID = objectID
        self.propertyName = propertyName
        self.kind = kind
        self.base = base
        self.mine = mine
        self.theirs = theirs
    }

    /// Returns the change, marked as a link to an object that another save has deleted.
    ///
    /// - Parameter canRevive: Whether keeping the draft's side inserts the deleted object again.
    func leadingToDeletedObject(canRevive: Bool) -> DraftChange {
        var change = self
        change.leadsToDeletedObject = true
        change.canKeepMine = canRevive
        return change
    }
}

extension DraftChange: CustomStringConvertible {
    /// The object and the property, without values, for example `ContactEntity/12.name (attribute)`.
    public var description: String { "\(objectID)\(propertyName.map { ".\($0)" } ?? "") (\(kind))" }
}

extension DraftChange {
    /// The error for a conflict that was not decided.
    func failure(_ origin: DraftDifference.Origin) -> DataSourceError {
        let (message, advice) =
            switch origin {
            case .draft: (draftMessage, draftAdvice)
            case .record(let number): (recordMessage(number), recordAdvice)
            }
        return DataSourceError(
            .draftConflict, "\(objectID)\(propertyName.map { ".\($0)" } ?? "") \(message) \(advice)",
            entityName: objectID.entityName, attributeName: propertyName)
    }

    private func recordMessage(_ number: Int64) -> String {
        switch kind {
        case .relationship where leadsToDeletedObject:
            "led, before record \(number), to an object that another save has deleted."
        case .attribute, .relationship: "was changed by record \(number), and again by another save."
        case .order: "was reordered by record \(number), and again by another save."
        case .deletedByOthers: "was edited by record \(number), and deleted by another save."
        case .takenByOthers:
            "would get back a unique value from before record \(number), but \(holder) has the value now."
        case .deletedHere:
            "would be deleted, because record \(number) inserted it, or inserted an object whose deletion cascades to it. But another save has edited or linked this object."
        }
    }

    /// The object that has the unique values now.
    private var holder: String { theirs.map { "\($0)" } ?? "another object" }

    private var recordAdvice: String {
        if kind == .takenByOthers {
            return canKeepMine
                ? "Revert with resolving: .takeTheirs to leave \(holder) as it is, or with .keepMine to give it the old values and links."
                : "Revert with resolving: .takeTheirs to leave both objects as they are, or first change or delete \(holder)."
        }
        return canKeepMine
            ? "Revert with resolving: .keepMine, .takeTheirs or .each."
            : leadsToDeletedObject
                ? "Revert with resolving: .takeTheirs, or revert the deletion of that object first."
                : "Revert with resolving: .takeTheirs, or revert the deletion of the object first."
    }

    private var draftMessage: String {
        switch kind {
        case .relationship where leadsToDeletedObject:
            "leads, in the draft, to an object that another save has deleted."
        case .attribute, .relationship: "was changed both in the draft and by another save."
        case .order: "was reordered both in the draft and by another save."
        case .deletedByOthers: "was edited in the draft and deleted by another save."
        case .takenByOthers: "has, in the draft, a unique value that another object has now."
        case .deletedHere:
            "was deleted in the draft, directly or by a delete rule, and edited or added by another save."
        }
    }

    private var draftAdvice: String {
        canKeepMine
            ? "Call conflicts() to see both values, and save with resolving: .keepMine, .takeTheirs or .each."
            : leadsToDeletedObject
                ? "Save with resolving: .takeTheirs, or link another object in the draft."
                : "The object cannot be inserted again, because a required object was deleted, too. Save with resolving: .takeTheirs."
    }
}

extension RowSnapshot {
    /// The value of an attribute, in the type of the attribute's property.
    func propertyValue(_ column: Int, _ layout: EntityLayout) -> (any Sendable)? {
        if isNull(column) { return nil }
        switch layout.columns[column].attribute?.type {
        case .integer16: return Int16(truncatingIfNeeded: integer(column))
        case .integer32: return Int32(truncatingIfNeeded: integer(column))
        case .integer64, .objectID, nil: return integer(column)
        case .boolean: return integer(column) != 0
        case .double: return real(column)
        case .float: return Float(real(column))
        case .date: return Date(timeIntervalSinceReferenceDate: real(column))
        case .string: return text(column)
        case .decimal: return decimal(column)
        case .uri: return URL(string: text(column))
        case .uuid: return withBytes(column) { $0.count == 16 ? UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) : nil }
        case .binary, .transformable, .undefined, .composite: return withBytes(column) { Data($0) }
        }
    }
}

/// The changes of a draft, or of a record that is reverted, as a value: each changed row before and after the changes.
struct DraftDifference: Sendable {
    /// Where the changes come from.
    enum Origin: Sendable {
        case draft
        /// A record of the kept history that is reverted, with its number.
        case record(Int64)
    }

    /// A row that was inserted, edited or deleted.
    struct Row: Sendable {
        var end: LinkEnd
        let state: ObjectState
        /// The row that the draft read; for an inserted object, the row of the new object.
        var base: RowSnapshot
        var row: RowSnapshot
        /// Whether a delete rule deleted the object.
        var isCascaded = false
    }

    /// The order of a relationship's objects before and after the draft's edits.
    struct Order: Sendable {
        let owner: LinkEnd
        let index: Int
        let base: [LinkEnd]
        let mine: [LinkEnd]
        /// The positions of objects in `mine`. Empty if `mine` has an order that the store has never had.
        var positions: [LinkEnd: Int64] = [:]
    }

    var rows: [Row] = []
    var orders: [Order] = []
    /// The number of times that the store had been reset when the draft was made.
    let generation: Int
    var origin = Origin.draft

    var isEmpty: Bool { rows.isEmpty }
}

extension DraftDifference.Origin {
    var isDraft: Bool { if case .draft = self { true } else { false } }

    /// The name, for the middle of a sentence.
    var name: String {
        switch self {
        case .draft: "the draft"
        case .record(let number): "record \(number)"
        }
    }

    /// The error after a reset of the store.
    var resetError: DataSourceError {
        switch self {
        case .draft:
            DataSourceError(
                .storeReset,
                "The store was reset after the draft was made. Discard the draft, and make a new draft.")
        case .record(let number):
            DataSourceError(
                .storeReset, "The store was reset after record \(number), so the record can no longer be reverted.")
        }
    }
}

extension DraftContext {
    /// Returns the current changes of the draft.
    func difference() throws -> DraftDifference {
        try checkDenials()
        var difference = DraftDifference(generation: position.generation)
        for object in changed where object.hasChanges {
            if object.state == .edited && !object.hasEdits { continue }
            difference.rows.append(
                DraftDifference.Row(
                    end: LinkEnd(object), state: object.state, base: object.savedRow, row: object.row,
                    isCascaded: object.state == .deleted && cascaded.contains(LinkEnd(object))))
        }
        for (order, base) in orders.sorted(by: { ($0.key.owner.key, $0.key.index) < ($1.key.owner.key, $1.key.index) })
        {
            // The owner might have been released, so find it again.
            guard let owner = try find(entity: order.owner.entity, key: order.owner.key), !owner.isDeleted else {
                continue
            }
            let mine = try ends(of: owner, at: order.index)
            if mine == base { continue }
            difference.orders.append(
                DraftDifference.Order(owner: order.owner, index: order.index, base: base, mine: mine))
        }
        return difference
    }
}

extension DraftDifference {
    /// Returns the entities of rows. For a row that stores a link, returns the entities of the linked objects.
    func entities(of rows: [Row], _ stack: PersistentStack) -> Set<Int> {
        rows.reduce(into: []) { entities, row in
            if stack.layout.entities[row.end.entity].links == nil {
                entities.insert(row.end.entity)
            } else {
                entities.formUnion(stack.graph.ends(ofLinks: row.end.entity))
            }
        }
    }
}

extension DraftDifference {
    /// The deleted links that are stored in rows of their own. Each link is the set of its two ends. The links are grouped by the
    /// index of the layout of their rows.
    func deletedLinks(_ layout: ModelLayout) -> [Int: Set<Set<LinkEnd>>] {
        rows.reduce(into: [:]) { links, row in
            guard row.state == .deleted, layout.entities[row.end.entity].links != nil,
                let pair = LinkedPair(row, layout)
            else { return }
            links[row.end.entity, default: []].insert(Set(pair.ends))
        }
    }
}

extension LinkedPair {
    init?(_ row: DraftDifference.Row, _ layout: ModelLayout) {
        self.init(row.row, layout.entities[row.end.entity], layout)
    }
}
