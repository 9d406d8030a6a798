import Foundation
import ManagedModel
import RowStore
import TestSupport

/// Rows and links for any model: the edges of each type, in turn, where the model's bounds allow them.
struct FixtureRows {
    private let model: ManagedObjectModel
    private let layout: ModelLayout

    private static let rowCount = 6

    init(_ model: ManagedObjectModel) {
        self.model = model
        layout = ModelLayout(model)
    }

    /// The first half of the rows of each entity, and then the second, which is what a second run of an app may add.
    func changes(ofHalf half: Int) -> [ChangeSet] {
        let numbers = half * FixtureRows.rowCount / 2..<(half + 1) * FixtureRows.rowCount / 2
        return layout.entities.filter { !$0.isAbstract && $0.links == nil }.map { entity in
            var changes = EntityChanges(entity: entity.index)
            changes.inserted = numbers.map { row(entity, $0) }
            return ChangeSet(entities: [changes])
        }
    }

    private func key(_ entity: EntityLayout, _ number: Int) -> Int64 {
        Int64(number * model.entities.count + entity.index + 1)
    }

    /// The first row has nothing that it need not have.
    private func row(_ entity: EntityLayout, _ number: Int) -> StoredRow {
        let key = key(entity, number)
        var row = RowSnapshot(columnCount: entity.columns.count)
        let columns = model.columns(of: model.entities[entity.index])
        for (index, column) in columns.enumerated() where column.isStored {
            switch column.role {
            case .attribute(let attribute):
                if number == 0 && attribute.isOptional { continue }
                let isUnique = entity.uniqueColumns.contains(index)
                row.setValue(isUnique ? attribute.uniqueValue(key) : attribute.edge(number + index), index)
            case .destinationKey(let relationship):
                if let end = destination(relationship, number) { row.setInteger(end.key, index) }
            case .destinationEntity(let relationship):
                if let end = destination(relationship, number) { row.setInteger(Int64(end.entity.index), index) }
            case .position: if number > 1 { row.setInteger(Int64(100 - number), index) }
            }
        }
        for (index, column) in columns.enumerated() { derive(column, index, entity, &row) }
        return StoredRow(key: key, row: row)
    }

    private func derive(_ column: ColumnDescription, _ index: Int, _ entity: EntityLayout, _ row: inout RowSnapshot) {
        guard let expression = column.attribute?.derivationExpression else { return }
        switch DerivationExpression(expression) {
        case .now: row.setReal(785_000_000.25, index)
        case .transformed(let path, let change):
            guard let source = entity.column(named: path.joined(separator: ".")) else { return }
            row.setValue(row.isNull(source) ? .null : .text(change(row.text(source))), index)
        case .path, nil: break
        }
    }

    private typealias End = (entity: EntityLayout, key: Int64)

    /// Where a to-one relationship of a row leads to: nowhere for the first, to the row of that number if it is the only
    /// one, and else each to one of the first three, of any entity of the family.
    private func destination(_ relationship: RelationshipDescription, _ number: Int) -> End? {
        let family = layout.entity(named: relationship.destinationName)?.concreteFamily ?? []
        guard number > 0, !family.isEmpty else { return nil }
        let inverse = relationship.inverseName.flatMap { name in
            model.entity(named: relationship.destinationName)?.relationships.first { $0.name == name }
        }
        let entity = layout.entities[family[number % family.count]]
        return (entity, key(entity, inverse?.isToMany == false ? number : number % 3))
    }

    /// The links that have rows of their own: each object is linked to the next three.
    var links: [ChangeSet] {
        var nextKey = Int64(FixtureRows.rowCount * model.entities.count + 1)
        return layout.entities.compactMap { links in
            guard let name = links.links, let owner = layout.entity(named: name.entity),
                let destination = model.relationship(name)?.destinationName
            else { return nil }
            var changes = EntityChanges(entity: links.index)
            var rows = pairs(links, from: owner, to: destination)
            if model.relationship(name).flatMap(model.inverse) == name { rows = bothEnds(rows, links) }
            changes.inserted = rows.map { row in
                nextKey += 1
                return StoredRow(key: nextKey - 1, row: row)
            }
            return ChangeSet(entities: [changes])
        }
    }

    /// A relationship that is its own inverse has each link twice, the second time with its ends exchanged.
    private func bothEnds(_ rows: [RowSnapshot], _ links: EntityLayout) -> [RowSnapshot] {
        let columns = links.pairColumns(isReversed: false)
        func exchanged(_ row: RowSnapshot) -> RowSnapshot {
            var other = row
            for (one, another) in [
                (columns.own.key, columns.other.key), (columns.own.entity, columns.other.entity),
                (columns.own.position, columns.other.position),
            ] as [(Int?, Int?)] {
                guard let one, let another else { continue }
                other.setInteger(row.integer(one), another)
                other.setInteger(row.integer(another), one)
            }
            return other
        }
        let rows = rows.map { row in
            // One that leads to itself has one place.
            guard row.integer(columns.own.key) == row.integer(columns.other.key), let place = columns.other.position,
                let own = columns.own.position
            else { return row }
            var row = row
            row.setInteger(row.integer(place), own)
            return row
        }
        var found: Set<[Int64]> = []
        return rows.flatMap { [$0, exchanged($0)] }.filter {
            found.insert([$0.integer(columns.own.key), $0.integer(columns.other.key)]).inserted
        }
    }

    private func pairs(_ links: EntityLayout, from owner: EntityLayout, to destinationName: String) -> [RowSnapshot] {
        let sources = owner.concreteFamily.map { layout.entities[$0] }
        let destinations = (layout.entity(named: destinationName)?.concreteFamily ?? []).map { layout.entities[$0] }
        guard !sources.isEmpty, !destinations.isEmpty else { return [] }
        let columns = links.pairColumns(isReversed: false)
        return (1..<FixtureRows.rowCount).flatMap { number in
            (0..<3).map { place in
                let source = sources[number % sources.count]
                let destination = destinations[(number + place) % destinations.count]
                var row = RowSnapshot(columnCount: links.columns.count)
                row.setInteger(key(source, number), columns.own.key)
                row.setInteger(
                    key(destination, (number + place * 2) % FixtureRows.rowCount), columns.other.key)
                if let column = columns.own.entity { row.setInteger(Int64(source.index), column) }
                if let column = columns.other.entity { row.setInteger(Int64(destination.index), column) }
                if let column = columns.own.position { row.setInteger(Int64(2 - place), column) }
                if let column = columns.other.position { row.setInteger(Int64(place * 3), column) }
                return row
            }
        }
    }
}

extension AttributeDescription {
    fileprivate func uniqueValue(_ key: Int64) -> RowValue {
        switch ColumnStorage(type) {
        case .integer: .integer(key)
        case .real: .real(Double(key) * 1000)
        case .text: .text(pattern == nil ? "\(name) \(key) é" : "AB\(key)")
        case .blob: .blob((0..<16).map { UInt8(key) &+ $0 })
        }
    }

    /// One of the values at the edges of what the attribute can hold.
    fileprivate func edge(_ number: Int) -> RowValue {
        let edges = edges.filter(isAllowed)
        return edges.isEmpty ? .null : edges[number % edges.count]
    }

    private var edges: [RowValue] {
        switch type {
        case .integer16: [.integer(Int64(Int16.min)), .integer(Int64(Int16.max)), .integer(0), .integer(42)]
        case .integer32: [.integer(Int64(Int32.min)), .integer(Int64(Int32.max)), .integer(0), .integer(42)]
        case .integer64, .objectID: [.integer(.min), .integer(.max), .integer(-1), .integer(0), .integer(1 << 53 + 1)]
        case .boolean: [.integer(1), .integer(0)]
        case .double:
            [
                .real(.infinity), .real(-.infinity), .real(.leastNonzeroMagnitude), .real(.greatestFiniteMagnitude),
                .real(0.1), .real(0), .real(5),
            ]
        case .float: [.real(Double(Float.greatestFiniteMagnitude)), .real(Double(Float(0.1))), .real(0), .real(-1.5)]
        case .date: [.real(-63_114_076_800), .real(-0.125), .real(0), .real(631_123_200), .real(64_092_211_200.001)]
        case .decimal:
            [
                "12345678901234567890.123456789", "-0.00000000000000000001", "0", "50.25",
                "99999999999999999999999999999999999999",
            ].map { .text($0) }
        case .string:
            pattern == nil
                ? ["", "a\0b", "👩‍👩‍👧‍👦 e\u{301} é 日本", "'\";--%_\\\n", "12", String(repeating: "x", count: 300)]
                    .map { .text($0) } : [.text("AB1"), .text("CD23")]
        case .uri:
            ["https://example.org/a?b=c#d", "about:blank", "file:///tmp/%C3%A9"].map { .text($0) }
        case .uuid: [.blob((0..<16).map { $0 &* 17 }), .blob(Array(repeating: 0, count: 16))]
        case .binary:
            // One that needs pages of its own.
            [[], [0], [0, 255, 0], (0..<(allowsExternalBinaryDataStorage ? 5000 : 20)).map { UInt8($0 % 251) }]
                .map { .blob($0) }
        case .transformable: [.blob(Array(customClassName == "[String]" ? #"["x","é"]"#.utf8 : #"{"a":-1}"#.utf8))]
        case .undefined, .composite: []
        }
    }

    private func isAllowed(_ value: RowValue) -> Bool {
        let number: Double? =
            switch value {
            case .integer(let value): Double(value)
            case .real(let value): value
            case .text(let text): type == .decimal ? Double(text) : Double(text.count)
            case .null, .blob: nil
            }
        guard let number else { return true }
        return number >= minimum?.number ?? -.infinity && number <= maximum?.number ?? .infinity
    }
}

extension AttributeValue {
    fileprivate var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value), .date(let value): value
        case .decimal(let value): NSDecimalNumber(decimal: value).doubleValue
        case .boolean, .string, .uuid: nil
        }
    }
}
