internal import RowStore

/// The JSON of an inspection.
extension StoreInspection {
    /// - Parameter occupants: The processes that have the store open; nil if the list of members shows them.
    func json(_ title: String, _ occupants: StoreOccupants?, _ changes: ChangeReader) -> JSON {
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
        ])
    }

    private func entity(_ name: String, _ count: Int) -> JSON {
        .object([
            ("name", .string(name)), ("count", .number(count)), ("source", .string(feed?.desk.leases[name]?.source)),
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
        desk.leases.sorted { $0.key < $1.key }.compactMap { entity, lease in
            guard let holder = lease.holder else { return nil }
            return .object([
                ("entity", .string(entity)), ("holder", .number(Int(holder))), ("source", .string(lease.source)),
                ("epoch", .number(Int(lease.epoch))), ("milliseconds", .number(Int(max(now - lease.since, 0)))),
            ])
        }
    }

    fileprivate var tickets: [JSON] {
        desk.tickets.map { ticket in
            .object([
                ("number", .number(Int(ticket.number))), ("member", .number(Int(ticket.member))),
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
