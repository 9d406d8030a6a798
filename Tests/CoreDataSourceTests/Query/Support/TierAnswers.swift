import CoreDataSource
import Foundation
import RowStore

/// All that a request can be asked for.
struct TierAnswers: Equatable, Sendable {
    var fetched: [Int64]
    var ids: [Int64]
    var count: Int
    var exists: Bool
    /// The objects again, page by page.
    var pages: [Int64]
    var names: [Text]
    var distinctNames: [Text]
    /// Nil if a sum is too large.
    var totals: Totals?
    var groups: [Group]

    /// Equal if all bytes are.
    struct Text: Hashable, Sendable, CustomStringConvertible {
        private let bytes: [UInt8]?

        init(_ text: String?) { bytes = text.map { Array($0.utf8) } }

        var description: String { bytes.map { String(reflecting: String(decoding: $0, as: UTF8.self)) } ?? "nil" }
    }

    struct Totals: Equatable, Sendable {
        var count: Int
        var names: Int
        var sum: Int64
        var average: Double?
        var price: Decimal?
        var least: Text
        var greatest: Int64?
    }

    struct Group: Equatable, Sendable {
        var name: Text
        var count: Int
        var greatest: Int64?
    }

    /// What would be answered if these rows were all there are.
    static func expected(_ question: TierQuestion) -> TierAnswers {
        let rows = question.window(question.all).map(\.row)
        let allNames = question.all.map { Text(question.name($0.row)) }
        let keys = question.window(question.all).map(\.key)
        var met: Set<Text> = []
        var groups: [Group] = []
        for row in rows {
            let name = Text(question.name(row))
            if !groups.contains(where: { $0.name == name }) { groups.append(Group(name: name, count: 0)) }
            for index in groups.indices where groups[index].name == name {
                groups[index].count += 1
                groups[index].greatest = [groups[index].greatest, question.long(row)].compactMap(\.self).max()
            }
        }
        return TierAnswers(
            fetched: keys, ids: keys, count: keys.count, exists: !keys.isEmpty,
            pages: keys.isEmpty ? [] : question.all.dropFirst(question.request.offset).map(\.key),
            names: rows.map { Text(question.name($0)) },
            distinctNames: question.window(allNames.filter { met.insert($0).inserted }),
            totals: Totals(rows, question), groups: groups)
    }

    /// The objects of the first page and of all after it.
    fileprivate static func pages(
        _ request: ObjectRequest<SampleEntity>, first: [SampleEntity],
        _ fetch: (ObjectRequest<SampleEntity>) throws -> [SampleEntity]
    ) throws -> [Int64] {
        var request = request
        var page = first
        var keys: [Int64] = []
        request.offset = 0
        while let last = page.last {
            keys += page.map(\.objectID.key)
            request.after = FetchCursor(last)
            page = try fetch(request)
        }
        return keys
    }

    fileprivate static func unlessTooLarge(_ totals: () throws -> Totals) throws -> Totals? {
        do {
            return try totals()
        } catch let error as DataSourceError where error.code == .numberOverflow {
            return nil
        }
    }
}

extension ManagedObjectContext {
    func answers(_ request: ObjectRequest<SampleEntity>) throws -> TierAnswers {
        let objects = try fetch(request)
        return TierAnswers(
            fetched: objects.map(\.objectID.key), ids: try ids(request).map(\.key), count: try count(request),
            exists: try exists(request), pages: try TierAnswers.pages(request, first: objects) { try fetch($0) },
            names: try values(request, \.name).map { TierAnswers.Text($0) },
            distinctNames: try values(request.distinct, \.name).map { TierAnswers.Text($0) },
            totals: try TierAnswers.unlessTooLarge {
                TierAnswers.Totals(
                    try aggregate(
                        request, .count(), .count(\.name), .sum(\.long), .average(\.short), .max(\.price), .min(\.name),
                        .max(\.long)))
            },
            groups: try aggregate(request, groupBy: \.name, .count(), .max(\.long)).map {
                TierAnswers.Group(name: TierAnswers.Text($0.key), count: $0.values.0, greatest: $0.values.1)
            })
    }
}

/// A request, and the rows that its predicate lets pass, in order.
struct TierQuestion: Sendable {
    var request: ObjectRequest<SampleEntity>
    var all: [StoredRow]

    var expected: TierAnswers { .expected(self) }

    func window<Element>(_ elements: [Element]) -> [Element] {
        Array(elements.dropFirst(request.offset).prefix(request.limit ?? .max))
    }

    func name(_ row: RowSnapshot) -> String? {
        guard case .text(let name) = value("name", row) else { return nil }
        return name
    }

    func long(_ row: RowSnapshot) -> Int64? { integer("long", row) }

    func integer(_ name: String, _ row: RowSnapshot) -> Int64? {
        guard case .integer(let number) = value(name, row) else { return nil }
        return number
    }

    func value(_ name: String, _ row: RowSnapshot) -> RowValue {
        guard let column = QuerySamples.sample.column(named: name) else { return .null }
        return row.value(column, QuerySamples.sample.columns[column].storage)
    }
}

extension ObjectRequest {
    fileprivate var distinct: ObjectRequest {
        var request = self
        request.isDistinct = true
        return request
    }
}

extension TierAnswers.Totals {
    fileprivate init(
        _ all: (
            count: Int, names: Int, sum: Int64, average: Double?, price: Decimal?, least: String?, greatest: Int64?
        )
    ) {
        self.init(
            count: all.count, names: all.names, sum: all.sum, average: all.average, price: all.price,
            least: TierAnswers.Text(all.least), greatest: all.greatest)
    }

    fileprivate init?(_ rows: [RowSnapshot], _ question: TierQuestion) {
        var sum: Int128 = 0
        for row in rows { sum += Int128(question.long(row) ?? 0) }
        guard let sum = Int64(exactly: sum) else { return nil }
        let names = rows.compactMap { question.name($0) }
        let shorts = rows.compactMap { question.integer("short", $0) }
        let prices = rows.compactMap { row in
            if case .text(let text) = question.value("price", row) { Decimal(string: text) } else { nil }
        }
        self.init(
            count: rows.count, names: names.count, sum: sum,
            average: shorts.isEmpty ? nil : Double(shorts.reduce(0, +)) / Double(shorts.count), price: prices.max(),
            least: TierAnswers.Text(names.min { $0.utf8.lexicographicallyPrecedes($1.utf8) }),
            greatest: rows.compactMap { question.long($0) }.max())
    }
}
