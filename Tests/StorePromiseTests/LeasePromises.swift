import RowStore
import StoreTestModel
import Testing

/// Who may write what in a shared store.
struct LeasePromises {
    private static let (item, sub) = (TestModel.item, 1)

    /// A holder that does not answer within it counts as stopped.
    private static let impatient: LeaseTimes = {
        var times = LeaseTimes()
        times.answer = .milliseconds(1)
        return times
    }()

    private func holder(_ entity: Int, _ table: LeaseTable) -> Int64? {
        table.leases.first { $0.entity == entity }?.holder.number
    }

    private func epoch(_ entity: Int, _ table: LeaseTable) throws -> LeaseEpoch {
        LeaseEpoch(entity: entity, epoch: try #require(table.leases.first { $0.entity == entity }).epoch)
    }

    @Test(arguments: TestedStore.shared)
    func aLeaseThatNobodyHasIsTakenAtOnce(kind: TestedStore) async throws {
        try await kind.withMembers(2) { members in
            #expect(try members[0].sharing.leases().leases.isEmpty)
            let taken = try members[0].sharing.takeLeases([LeasePromises.item, LeasePromises.sub], for: "Source")
            #expect(taken.ticket == nil)
            for table in [taken.table, try members[1].sharing.leases()] {
                #expect(table.leases.map(\.entity).sorted() == [LeasePromises.item, LeasePromises.sub])
                #expect(table.leases.allSatisfy { $0.holder == members[0].sharing.member && $0.source == "Source" })
                #expect(table.tickets.isEmpty)
            }
        }
    }

    @Test(arguments: TestedStore.shared)
    func aHolderKeepsItsLeaseAndItsEpoch(kind: TestedStore) async throws {
        try await kind.withMembers(2) { members in
            let first = try members[0].sharing.takeLeases([LeasePromises.item], for: "a").table
            let again = try members[0].sharing.takeLeases([LeasePromises.item, LeasePromises.sub], for: "b")
            #expect(again.ticket == nil)
            #expect(try epoch(LeasePromises.item, first) == epoch(LeasePromises.item, again.table))
        }
    }

    /// Another data source of the member may wait meanwhile.
    @Test(arguments: TestedStore.shared)
    func aDataSourceWithItsLeasesGetsNoTicket(kind: TestedStore) async throws {
        try await kind.withMembers(2) { members in
            _ = try members[0].sharing.takeLeases([LeasePromises.item], for: "a")
            _ = try members[1].sharing.takeLeases([LeasePromises.sub], for: "b")
            let waiting = try members[1].sharing.takeLeases([LeasePromises.item], for: "c")
            #expect(waiting.ticket != nil)
            let again = try members[1].sharing.takeLeases([LeasePromises.sub], for: "b")
            #expect(again.ticket == nil)
            #expect(again.table.tickets.map(\.number) == [waiting.ticket])
        }
    }

    @Test(arguments: TestedStore.shared)
    func leasesGoToThoseWhoWaitInTheOrderOfAsking(kind: TestedStore) async throws {
        try await kind.withMembers(4) { members in
            var table = try members[0].sharing.takeLeases([LeasePromises.item], for: "s").table
            var epochs = [try epoch(LeasePromises.item, table).epoch]
            var tickets: [Int64] = []
            for place in [2, 1, 3] {
                let asked = try members[place].sharing.takeLeases([LeasePromises.item], for: "source \(place)")
                tickets.append(try #require(asked.ticket))
            }
            table = try members[0].sharing.leases()
            #expect(table.tickets.map(\.number) == tickets && tickets == tickets.sorted())
            #expect(table.tickets.map(\.member) == [2, 1, 3].map { members[$0].sharing.member })
            #expect(table.tickets.map(\.source) == ["source 2", "source 1", "source 3"])
            var holder = 0
            for next in [2, 1, 3] {
                table = try members[holder].sharing.releaseLeases([LeasePromises.item])
                #expect(self.holder(LeasePromises.item, table) == members[next].sharing.member.number)
                epochs.append(try epoch(LeasePromises.item, table).epoch)
                holder = next
            }
            #expect(table.tickets.isEmpty)
            #expect(Set(epochs).count == 4)
        }
    }

    @Test(arguments: TestedStore.shared)
    func aLeaseThatIsReleasedBelongsToNobodyIfNobodyWaits(kind: TestedStore) async throws {
        try await kind.withMembers(2) { members in
            _ = try members[0].sharing.takeLeases([LeasePromises.item, LeasePromises.sub], for: "s")
            // Others' leases are not one's own to release.
            _ = try members[1].sharing.releaseLeases([LeasePromises.item])
            #expect(holder(LeasePromises.item, try members[1].sharing.leases()) == members[0].sharing.member.number)
            let table = try members[0].sharing.releaseLeases([LeasePromises.item])
            #expect(table.leases.map(\.entity) == [LeasePromises.sub])
        }
    }

    @Test(arguments: TestedStore.shared)
    func aTicketForSeveralLeasesIsNotOvertaken(kind: TestedStore) async throws {
        try await kind.withMembers(3) { members in
            let (item, sub) = (LeasePromises.item, LeasePromises.sub)
            _ = try members[0].sharing.takeLeases([item], for: "s")
            let both = try #require(try members[1].sharing.takeLeases([item, sub], for: "s").ticket)
            #expect(try members[2].sharing.takeLeases([sub], for: "s").ticket != nil)
            #expect(holder(sub, try members[0].sharing.leases()) == nil)
            var table = try members[1].sharing.settleLeases(answered: [], withdrawn: both)
            #expect(holder(sub, table) == members[2].sharing.member.number)
            table = try members[0].sharing.releaseLeases([item])
            #expect(holder(item, table) == nil && table.tickets.isEmpty)
        }
    }

    @Test(arguments: TestedStore.shared)
    func leasesOfAMemberThatHasClosedGoToThoseWhoWait(kind: TestedStore) async throws {
        try await kind.withMembers(3) { members in
            _ = try members[0].sharing.takeLeases([LeasePromises.item], for: "s")
            _ = try members[1].sharing.takeLeases([LeasePromises.item], for: "s")
            _ = try members[2].sharing.takeLeases([LeasePromises.item], for: "s")
            members[1].store.close()
            members[0].store.close()
            let table = try members[2].sharing.settleLeases(answered: [], withdrawn: nil)
            #expect(holder(LeasePromises.item, table) == members[2].sharing.member.number)
            #expect(table.tickets.isEmpty)
        }
    }

    /// Otherwise, an inspection would take a member that has closed the store for one that has crashed.
    @Test(arguments: TestedStore.shared)
    func aMemberThatClosesLeavesNoLeaseAndNoTicket(kind: TestedStore) async throws {
        try await kind.withMembers(3) { members in
            let (item, sub) = (LeasePromises.item, LeasePromises.sub)
            _ = try members[0].sharing.takeLeases([item], for: "s")
            _ = try members[1].sharing.takeLeases([sub], for: "s")
            #expect(try members[1].sharing.takeLeases([item], for: "s").ticket != nil)
            members[1].store.close()
            let table = try members[2].sharing.leases()
            #expect(table.leases.map(\.entity) == [item] && holder(item, table) == members[0].sharing.member.number)
            #expect(table.tickets.isEmpty)
            members[0].store.close()
            #expect(try members[2].sharing.leases().leases.isEmpty)
        }
    }

    @Test(arguments: TestedStore.shared)
    func aHolderThatAnswersKeepsItsLease(kind: TestedStore) async throws {
        var times = LeaseTimes()
        times.answer = .milliseconds(100)
        try await kind.withMembers(2, times) { members in
            _ = try members[0].sharing.takeLeases([LeasePromises.item], for: "s")
            let ticket = try #require(try members[1].sharing.takeLeases([LeasePromises.item], for: "s").ticket)
            var table = try members[0].sharing.settleLeases(answered: [ticket], withdrawn: nil)
            guard holder(LeasePromises.item, table) == members[0].sharing.member.number else {
                return  // The machine was too busy for it to answer in time.
            }
            #expect(table.tickets.first?.isAnswered == true)
            let end = ContinuousClock.now + times.answer * 2
            while ContinuousClock.now < end {
                table = try members[1].sharing.settleLeases(answered: [], withdrawn: nil)
            }
            #expect(holder(LeasePromises.item, table) == members[0].sharing.member.number)
        }
    }

    @Test(arguments: TestedStore.shared)
    func savesOfAMemberThatHasLostItsLeaseAreRefused(kind: TestedStore) async throws {
        try await kind.withMembers(2, LeasePromises.impatient) { members in
            let lost = try epoch(
                LeasePromises.item, members[0].sharing.takeLeases([LeasePromises.item], for: "s").table)
            var table = try members[1].sharing.takeLeases([LeasePromises.item], for: "s").table
            while holder(LeasePromises.item, table) != members[1].sharing.member.number {
                table = try members[1].sharing.settleLeases(answered: [], withdrawn: nil)
            }
            func save(_ key: Int64, _ origin: Int, _ leases: [LeaseEpoch]) -> ChangeSet {
                var set = ChangeSet.of(insert: [StoredRow(key: key, row: TestModel.row())])
                (set.origin, set.leases) = (origin, leases)
                return set
            }
            let group = [save(1, 1, [lost]), save(2, 2, []), save(3, 1, [])]
            let refused = try members[0].store.commit(group).refused
            #expect(refused.mapValues(\.code) == [0: .leaseLost, 2: .saveRolledBack])
            #expect(refused[0]?.entityName == "Item")
            let now = try epoch(LeasePromises.item, table)
            #expect(try members[1].store.commit([save(4, 1, [now])]).refused.isEmpty)
            #expect(try members[1].store.keys() == [2, 4])
            // Having it again is another epoch.
            _ = try members[1].sharing.releaseLeases([LeasePromises.item])
            _ = try members[0].sharing.takeLeases([LeasePromises.item], for: "s")
            #expect(try members[0].store.commit([save(5, 1, [lost])]).refused[0]?.code == .leaseLost)
        }
    }

    /// What it changes may be deleted by the member that has got the lease, and its unique values taken.
    @Test(arguments: TestedStore.shared)
    func aSaveUnderALostLeaseThrowsOnlyLeaseLost(kind: TestedStore) async throws {
        try await kind.withMembers(2, LeasePromises.impatient) { members in
            let (first, second) = (members[0], members[1])
            let lost = try epoch(LeasePromises.item, first.sharing.takeLeases([LeasePromises.item], for: "s").table)
            let row = TestModel.row(code: "a")
            #expect(try first.store.commit([.of(insert: [StoredRow(key: 1, row: row)])]).refused.isEmpty)
            var table = try second.sharing.takeLeases([LeasePromises.item], for: "s").table
            while holder(LeasePromises.item, table) != second.sharing.member.number {
                table = try second.sharing.settleLeases(answered: [], withdrawn: nil)
            }
            let taken = StoredRow(key: 2, row: TestModel.row(code: "b"))
            let now = ChangeSet.of(insert: [taken], delete: [StoredRow(key: 1, row: row)])
            #expect(try second.store.commit([now]).refused.isEmpty)
            let layout = TestModel.layout.entities[TestModel.item]
            var update = ChangeSet.of(update: [.of(1, row, TestModel.row(.integer(7)), layout)])
            var insert = ChangeSet.of(insert: [StoredRow(key: 3, row: taken.row)])
            (update.origin, update.leases) = (1, [lost])
            (insert.origin, insert.leases) = (2, [lost])
            for group in [[update], [insert], [update, insert]] {
                let refused = try first.store.commit(group).refused
                #expect(refused.count == group.count && refused.values.allSatisfy { $0.code == .leaseLost })
            }
            // Under a lease that it has, the reason is what is wrong.
            (update.leases, insert.leases) = ([], [])
            #expect(try first.store.commit([update]).refused[0]?.code == .objectGone)
            #expect(try first.store.commit([insert]).refused[0]?.code == .uniquenessViolated)
            #expect(try second.store.keys() == [2])
        }
    }

    @Test(arguments: TestedStore.shared)
    func aSaveNeedsAllOfItsLeases(kind: TestedStore) async throws {
        try await kind.withMembers(2) { members in
            let table = try members[0].sharing.takeLeases([LeasePromises.item, LeasePromises.sub], for: "s").table
            var set = ChangeSet.of(insert: [StoredRow(key: 1, row: TestModel.row())])
            set.leases = [try epoch(LeasePromises.item, table), try epoch(LeasePromises.sub, table)]
            _ = try members[0].sharing.releaseLeases([LeasePromises.sub])
            #expect(try members[0].store.commit([set]).refused[0]?.code == .leaseLost)
            #expect(try members[0].store.count() == 0)
        }
    }

    @Test(arguments: TestedStore.shared)
    func theVersionOfTheLeasesGrowsWithEachChange(kind: TestedStore) async throws {
        try await kind.withMembers(2) { members in
            func version() throws -> Int64 { try members[1].sharing.readFeed(after: 0).leaseVersion }
            var last = try version()
            #expect(try members[1].sharing.leases().version == last)
            _ = try members[0].sharing.takeLeases([LeasePromises.item], for: "s")
            #expect(try version() > last)
            last = try version()
            let ticket = try members[1].sharing.takeLeases([LeasePromises.item], for: "s").ticket
            #expect(try version() > last)
            last = try version()
            _ = try members[1].sharing.settleLeases(answered: [], withdrawn: ticket)
            #expect(try version() > last)
            last = try version()
            _ = try members[0].sharing.settleLeases(answered: [], withdrawn: nil)
            #expect(try version() == last)
        }
    }
}
