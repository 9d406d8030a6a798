public import Foundation
internal import RowStore

/// A snapshot of a list after a save: all rows in order, divided into sections.
///
/// ```swift
/// let snapshot = try contacts.list(
///     ObjectRequest(ContactEntity.self, order: [.ascending(\.name)])
/// ).snapshot
/// for contact in snapshot { print(contact.name) }
/// ```
///
/// A snapshot is a value: keep it, or send it to any actor. The snapshots of a list share their unchanged rows.
public struct ListSnapshot<Object: ManagedObject>: Sendable, RandomAccessCollection {
    package let state: ListState
    let reader: DetachedObjectFactory

    init(state: ListState, reader: DetachedObjectFactory) {
        (self.state, self.reader) = (state, reader)
    }

    /// A snapshot without rows.
    @MainActor
    package init(emptyIn main: MainTier) {
        let entity = main.stack.layout.entities[0]
        self.init(
            state: .unread(ListQuery(entity, order: ListOrder(entity, sort: []))), reader: main.detachedObjectFactory)
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { state.count }

    /// The row at an index, counted over all sections. Complexity: O(log n).
    public subscript(index: Int) -> ListRow<Object> {
        precondition(
            index >= 0 && index < state.count,
            "The index \(index) is outside the range 0..<\(state.count) of the list's rows.")
        return ListRow(row: state.rows[index], reader: reader)
    }

    /// The row at an index path; nil if the list has no such row. Complexity: O(log n).
    public subscript(indexPath: IndexPath) -> ListRow<Object>? {
        state.index(indexPath).map { self[$0] }
    }

    /// The IDs of all rows, in the order of the list. Complexity: O(n).
    public var ids: [ManagedObjectID] { map(\.id) }

    // MARK: Sections

    /// The number of sections. A list without a section key has 1, even if the list is empty.
    public var sectionCount: Int { state.sectionCount }

    /// The section at an index, with its name and the range of its rows. Complexity: O(log n).
    ///
    /// ```swift
    /// let section = list.snapshot.section(0)
    /// print(section.name, section.numberOfObjects)
    /// ```
    public func section(_ index: Int) -> ListSection {
        precondition(
            index >= 0 && index < sectionCount,
            "The section \(index) is outside the range 0..<\(sectionCount) of the list's sections.")
        return ListSection(index, of: state)
    }

    /// All sections, in the order of the list. Complexity: O(log n) for each section.
    public var sections: [ListSection] { state.sections }

    /// The index path (section and item) of the row at an index, counted over all sections. Complexity: O(log n).
    ///
    /// ```swift
    /// let indexPath = list.snapshot.indexPath(2)  // [0, 2]
    /// ```
    public func indexPath(_ index: Int) -> IndexPath { state.indexPath(index) }

    /// The index of an object, counted over all sections; nil if the list does not show the object. Complexity: O(n).
    ///
    /// ```swift
    /// let index = list.snapshot.index(of: contact.objectID)
    /// ```
    public func index(of id: ManagedObjectID) -> Int? {
        id.entity(in: reader.layout).flatMap { state.index(ofKey: id.key, entity: $0) }
    }
}

extension ListSnapshot: CustomStringConvertible {
    /// The number of rows and sections: `ListSnapshot of ContactEntity (12 rows in 3 sections)`.
    public var description: String { "ListSnapshot of \(Object.entityName) (\(size))" }

    /// For example `12 rows in 3 sections`.
    var size: String {
        let rows = count == 1 ? "1 row" : "\(count) rows"
        return state.query.order.section == nil
            ? rows : rows + (sectionCount == 1 ? " in 1 section" : " in \(sectionCount) sections")
    }
}

extension ListRow: CustomStringConvertible {
    /// The ID and the values, in the format of ``ManagedObject/description``.
    public var description: String { reader.layout.entities[row.entity].description(row.key, row.row) }
}

extension ListDifference: CustomStringConvertible {
    /// The number of changes of each kind, for example `2 insert, 1 move`.
    public var description: String {
        let kinds: [ListChangeType] = [.delete, .insert, .move, .update]
        let counts = kinds.map { kind in (kind, changes.count { $0.type == kind }) }.filter { $0.1 > 0 }
        return counts.isEmpty ? "no changes" : counts.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
    }
}

extension ListUpdate: CustomStringConvertible {
    /// The snapshot, the changes, and the reason.
    public var description: String { "\(snapshot): \(difference); \(reason)" }
}

/// A row of a list's snapshot: the ID and the values of an object.
///
/// ```swift
/// print(row.id, row.name)
/// ```
///
/// A row is an immutable value, and can be sent to any actor.
@dynamicMemberLookup
public struct ListRow<Object: ManagedObject>: Sendable, Identifiable {
    let row: ListedRow
    let reader: DetachedObjectFactory

    /// The permanent ID of the object.
    public var id: ManagedObjectID { ManagedObjectID(reader.layout.entities[row.entity], key: row.key) }

    /// The value of an attribute, or of a property that is computed from attributes.
    ///
    /// A row has no related objects. Reading a relationship does not compile, because an object is not Sendable. Reading an
    /// attribute that is derived along a relationship, or a property of the class that reads a relationship, traps. Read such a
    /// value from an object of the main context, or with `values(_:_:)`:
    ///
    /// ```swift
    /// let contact = try contacts.main.object(ContactEntity.self, id: row.id)
    /// print(contact?.group?.name ?? "no group")
    /// ```
    public subscript<Value: Sendable>(dynamicMember keyPath: KeyPath<Object, Value>) -> Value {
        map { $0[keyPath: keyPath] }
    }

    /// Passes the row to a closure as an object, and returns the closure's result. The object is valid only during the call.
    /// The call traps if the closure reads a relationship, which a row does not have.
    ///
    /// ```swift
    /// let names = snapshot.map { row in row.map { contact in contact.name } }
    /// ```
    public func map<Value: Sendable>(_ body: (Object) throws -> Value) rethrows -> Value {
        guard let object = reader.object(row) as? Object else {
            preconditionFailure(
                "A list of \(Object.self) contains a row of \(reader.layout.entities[row.entity].name).")
        }
        let value = try body(object)
        if let column = object.home.uncalculatedColumn { refuse(column) }
        if let relationship = object.home.unreadRelationship { refuse(relationship: relationship) }
        return value
    }

    private func refuse(relationship: Int) -> Never {
        let layout = reader.layout.entities[row.entity]
        preconditionFailure(
            "\(layout.name).\(layout.relationships[relationship].name) was read from a row, which has no related objects. Read the relationship from the object that the main context has for the row's id, or read its attributes with values(_:_:)."
        )
    }

    private func refuse(_ column: Int) -> Never {
        let layout = reader.layout.entities[row.entity]
        preconditionFailure(
            "\(layout.name).\(layout.columns[column].name) is derived from \((layout.calculatedPaths[column] ?? []).joined(separator: ".")), which a row of a snapshot does not have. Read the value from the object that the main context has for the row's id, or with values(_:_:)."
        )
    }
}

extension FetchCursor {
    /// Makes a cursor at the position of a row, in the order of the request or list that uses the cursor.
    ///
    /// ```swift
    /// try list.moveWindow(after: list.snapshot.last.map { FetchCursor($0) })
    /// ```
    public init<Object: ManagedObject>(_ row: ListRow<Object>) {
        self.init(stored: row.row.stored, layout: row.reader.layout.entities[row.row.entity])
    }
}
