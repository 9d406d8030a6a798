internal import Foundation
internal import ManagedModel
internal import RowStore

/// The output of an inspection, as lines.
struct InspectionLines {
    private let inspection: StoreInspection
    private let title: String
    private let occupants: StoreOccupants?
    private let changes: ChangeReader
    private let showsValues: Bool

    /// - Parameter occupants: The processes that have the store open; nil if the list of members already shows them.
    init(
        _ inspection: StoreInspection, title: String, occupants: StoreOccupants?, changes: ChangeReader,
        showsValues: Bool
    ) {
        self.showsValues = showsValues
        self.inspection = inspection
        self.title = title
        self.occupants = occupants
        self.changes = changes
    }

    var all: [String] {
        let metadata = inspection.metadata
        let hash = metadata.identity.modelHash
        return [
            "\(title): format \(metadata.format), database key \(JSON.string(metadata.identity.databaseKey ?? "").text), model "
                + hash + (configuration.map { ", configuration \($0)" } ?? "")
        ] + (occupants?.lines ?? []) + entities + feed + history
    }

    private var history: [String] {
        inspection.history.map { HistoryLines($0, showsValues: showsValues).all } ?? []
    }

    /// The configuration; nil for a whole model, and for a model that cannot be read.
    private var configuration: String? {
        do { return try inspection.metadata.model().configurationName } catch { return nil }
    }

    private var entities: [String] {
        guard let counts = inspection.counts else {
            return ["entities: unknown, because the store has no copy of its model; pass the model with --model"]
        }
        return ["entities:"]
            + counts.map { name, count in
                let lease = inspection.feed?.arbiter.leases[name]
                return "  \(name): \(count.objects)\(lease.map { ", of \($0.source)" } ?? "")"
            }
    }

    private var feed: [String] {
        guard let feed = inspection.feed else {
            return ["feed: none, because the store was never shared; the store has no members and no leases, either"]
        }
        let isAlone = occupants.map { $0.isOpen && $0.members.isEmpty } ?? false
        let recorded = feed.lowest > feed.position ? "no save recorded" : "saves recorded from \(feed.lowest) on"
        let ended = members(feed, areAlive: false)
        return section("members", members(feed, areAlive: true))
            + (ended.isEmpty
                ? [] : section("members that have ended, listed because the feed may have saves of them", ended))
            + section("leases", leases(feed)) + section("waiting", tickets(feed))
            + [
                "feed: position \(feed.position), \(recorded)"
                    + (isAlone ? "; the process that has the store open now records no saves" : "")
            ]
            + feed.saves.flatMap { changes.lines($0, feed.members.map(\.member)) }.map { "  \($0)" }
    }

    private func section(_ name: String, _ lines: [String]) -> [String] {
        lines.isEmpty ? ["\(name): none"] : ["\(name):"] + lines.map { "  \($0)" }
    }

    private func members(_ feed: StoreInspection.Feed, areAlive: Bool) -> [String] {
        feed.members.filter { $0.isAlive == areAlive }.map { "\($0.member.number): \($0.member)" }
    }

    private func leases(_ feed: StoreInspection.Feed) -> [String] {
        feed.arbiter.leases.sorted { $0.key < $1.key }.compactMap { entity, lease in
            guard let holder = lease.holder else { return nil }
            // If the holder has ended, the next container that wants the lease gets it at once.
            if !feed.isAlive(holder) {
                return "\(entity): free, because \(feed.name(of: holder)) has ended without releasing it"
            }
            return "\(entity): \(feed.name(of: holder)) for \(lease.source), for \(seconds(feed.now - lease.since))"
        }
    }

    private func tickets(_ feed: StoreInspection.Feed) -> [String] {
        feed.arbiter.tickets.map { ticket in
            // If the member has ended, the next container that wants a lease removes the ticket.
            if !feed.isAlive(ticket.member) {
                return "\(ticket.number): of no effect, because \(feed.name(of: ticket.member)) has ended"
            }
            let answers = ticket.answered.filter(feed.isAlive).sorted().map(feed.name).joined(separator: ", ")
            return "\(ticket.number): \(feed.name(of: ticket.member)) for \(ticket.source), wants "
                + ticket.entities.joined(separator: ", ") + ", for \(seconds(feed.now - ticket.since))"
                + (answers.isEmpty ? "" : ", known to \(answers)")
        }
    }

    private func seconds(_ milliseconds: Int64) -> String {
        String(format: "%.1f s", Double(max(milliseconds, 0)) / 1000)
    }
}

extension StoreInspection.Feed {
    fileprivate func name(of number: Int64) -> String {
        members.first { $0.member.number == number }?.member.description ?? "member \(number)"
    }

    /// Whether a member has the store open. A member that is no longer listed has ended.
    fileprivate func isAlive(_ number: Int64) -> Bool {
        members.contains { $0.member.number == number && $0.isAlive }
    }
}

/// A value of a column, as text and as JSON.
struct ValueText {
    let value: RowValue
    let type: AttributeType?

    init(_ value: RowValue, _ column: ColumnLayout) {
        self.value = value
        type = column.attribute?.type
    }

    /// The maximum length of a shown string, in characters.
    private static let limit = 60

    /// The value on one line. A long string is shortened.
    var text: String {
        switch value {
        case .null: return "nil"
        case .integer(let number): return type == .boolean ? "\(number != 0)" : "\(number)"
        case .real(let number): return date(number) ?? "\(number)"
        case .text(let text):
            if type == .decimal { return text }
            let start = text.prefix(ValueText.limit)
            return JSON.string(String(start)).text + (start.endIndex == text.endIndex ? "" : "...")
        case .blob(let bytes): return uuid(bytes) ?? (bytes.count == 1 ? "1 byte" : "\(bytes.count) bytes")
        }
    }

    /// The whole value. Binary data is encoded in base 64.
    var json: JSON {
        switch value {
        case .null: .null
        case .integer(let number): type == .boolean ? .flag(number != 0) : .number(Int(number))
        case .real(let number): date(number).map { .string($0) } ?? .real(number)
        case .text(let text): .string(text)
        case .blob(let bytes): .string(uuid(bytes) ?? Data(bytes).base64EncodedString())
        }
    }

    private func date(_ number: Double) -> String? {
        // A time outside the years with four digits is shown as a number.
        guard type == .date, (-63_000_000_000...252_000_000_000).contains(number) else { return nil }
        return DateText.display(number)
    }

    private func uuid(_ bytes: [UInt8]) -> String? {
        guard type == .uuid, bytes.count == 16 else { return nil }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)).uuidString }
    }
}

/// The output of an inspection, as JSON.
extension StoreInspection {
    /// - Parameter occupants: The processes that have the store open; nil if the list of members already shows them.
    func json(
        _ title: String, _ occupants: StoreOccupants?, _ changes: ChangeReader, showsValues: Bool
    ) -> JSON {
        let isOpen = occupants?.isOpen ?? feed?.members.contains { $0.isAlive } ?? false
        return .object([
            ("store", .string(title)), ("format", .number(Int(metadata.format))),
            ("databaseKey", .string(metadata.identity.databaseKey ?? "")),
            ("modelHash", .string(metadata.identity.modelHash)),
            ("storeID", .string(metadata.storeID)), ("open", .flag(isOpen)),
            ("entities", counts.map { .list($0.map { entity($0.entity, $0.count) }) } ?? .null),
            ("members", .list(feed?.members.map { member($0.member, $0.isAlive) } ?? [])),
            ("leases", .list(feed?.leases ?? [])), ("waiting", .list(feed?.tickets ?? [])),
            ("feed", feed?.json(changes) ?? .null),
            ("history", history.map { HistoryLines($0, showsValues: showsValues).json } ?? .null),
        ])
    }

    private func entity(_ name: String, _ count: Int) -> JSON {
        .object([
            ("name", .string(name)), ("count", .number(count)), ("source", .string(feed?.arbiter.leases[name]?.source)),
        ])
    }

    private func member(_ member: StoreMember, _ isAlive: Bool) -> JSON {
        .object([
            ("number", .number(Int(member.number))), ("process", .number(Int(member.processID))),
            ("name", .string(member.name)), ("alive", .flag(isAlive)),
        ])
    }
}

extension StoreInspection.Feed {
    fileprivate var leases: [JSON] {
        arbiter.leases.sorted { $0.key < $1.key }.compactMap { entity, lease in
            guard let holder = lease.holder else { return nil }
            return .object([
                ("entity", .string(entity)), ("holder", .number(Int(holder))), ("source", .string(lease.source)),
                ("alive", .flag(isAlive(holder))), ("epoch", .number(Int(lease.epoch))),
                ("milliseconds", .number(Int(max(now - lease.since, 0)))),
            ])
        }
    }

    fileprivate var tickets: [JSON] {
        arbiter.tickets.map { ticket in
            .object([
                ("number", .number(Int(ticket.number))), ("member", .number(Int(ticket.member))),
                ("alive", .flag(isAlive(ticket.member))),
                ("source", .string(ticket.source)), ("entities", .strings(ticket.entities)),
                ("milliseconds", .number(Int(max(now - ticket.since, 0)))),
                ("answered", .list(ticket.answered.sorted().map { .number(Int($0)) })),
            ])
        }
    }

    fileprivate func json(_ changes: ChangeReader) -> JSON {
        .object([
            ("position", .number(Int(position))), ("lowest", .number(Int(lowest))),
            ("saves", .list(saves.map { changes.json($0, members.map(\.member)) })),
        ])
    }
}
