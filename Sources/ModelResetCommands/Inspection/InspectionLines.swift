internal import Foundation
internal import ManagedModel
internal import RowStore

/// The lines of an inspection.
struct InspectionLines {
    private let inspection: StoreInspection
    private let title: String
    private let occupants: StoreOccupants?
    private let changes: ChangeReader

    /// - Parameter occupants: The processes that have the store open; nil if the list of members shows them.
    init(
        _ inspection: StoreInspection, _ title: String, _ occupants: StoreOccupants?, _ changes: ChangeReader
    ) {
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
        ] + (occupants?.lines ?? []) + entities + feed
    }

    /// Nil for a whole model, and for one that cannot be read, of which the entities are unknown.
    private var configuration: String? {
        do { return try inspection.metadata.model().configurationName } catch { return nil }
    }

    private var entities: [String] {
        guard let counts = inspection.counts else {
            return ["entities: unknown, because the store has no copy of its model; pass it with --model"]
        }
        return ["entities:"]
            + counts.map { name, count in
                let lease = inspection.feed?.desk.leases[name]
                return "  \(name): \(count.objects)\(lease.map { ", of \($0.source)" } ?? "")"
            }
    }

    private var feed: [String] {
        guard let feed = inspection.feed else {
            return ["feed: none, because the store was never shared; it has no members and no leases either"]
        }
        let isAlone = occupants.map { $0.isOpen && $0.members.isEmpty } ?? false
        let noted = feed.lowest > feed.position ? "none noted" : "noted from \(feed.lowest) on"
        return section("members", members(feed)) + section("leases", leases(feed)) + section("waiting", tickets(feed))
            + [
                "feed: position \(feed.position), \(noted)"
                    + (isAlone ? "; the process that has the store open now notes no saves" : "")
            ]
            + feed.saves.flatMap { changes.lines($0, feed.members.map(\.member)) }.map { "  \($0)" }
    }

    private func section(_ name: String, _ lines: [String]) -> [String] {
        lines.isEmpty ? ["\(name): none"] : ["\(name):"] + lines.map { "  \($0)" }
    }

    private func members(_ feed: StoreInspection.Feed) -> [String] {
        feed.members.map { "\($0.member.number): \($0.member)\($0.isAlive ? "" : ", ended")" }
    }

    private func leases(_ feed: StoreInspection.Feed) -> [String] {
        feed.desk.leases.sorted { $0.key < $1.key }.compactMap { entity, lease in
            guard let holder = lease.holder else { return nil }
            return "\(entity): \(feed.name(of: holder)) for \(lease.source), for \(seconds(feed.now - lease.since))"
        }
    }

    private func tickets(_ feed: StoreInspection.Feed) -> [String] {
        feed.desk.tickets.map { ticket in
            let answers = ticket.answered.sorted().map(feed.name).joined(separator: ", ")
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
        members.first { $0.member.number == number }?.member.description ?? "member \(number), which has ended"
    }
}
