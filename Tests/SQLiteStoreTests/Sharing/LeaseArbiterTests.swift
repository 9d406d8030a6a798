import RowStore
import TestSupport
import Testing

/// Who gets which lease.
struct LeaseArbiterTests {
    /// An arbiter, and the clock and the members around it.
    private struct DeskFixture {
        private(set) var arbiter = LeaseArbiter(nextTicket: 1)
        private var nextTicket: Int64 = 1
        var alive: Set<Int64> = [1, 2, 3, 4]
        var now: Int64 = 0

        @discardableResult
        mutating func ask(_ member: Int64, _ entities: [String], owners: [String] = []) -> Int64 {
            let now = now
            return change { $0.addTicket(entities, for: "Source", owners: owners, by: member, at: now) }
        }

        mutating func release(_ member: Int64, _ entities: [String]) { change { $0.release(entities, by: member) } }
        mutating func confirm(_ member: Int64, _ ticket: Int64) { change { $0.confirm([ticket], by: member) } }
        mutating func withdraw(_ member: Int64, _ ticket: Int64) { change { $0.withdraw(ticket, by: member) } }
        mutating func leave(_ member: Int64) { change { $0.leave(member) } }
        mutating func settle() { change { _ in } }

        private mutating func change<R>(_ body: (inout LeaseArbiter) -> R) -> R {
            nextTicket += 1
            arbiter = LeaseArbiter(leases: arbiter.leases, tickets: arbiter.tickets, nextTicket: nextTicket)
            let result = body(&arbiter)
            arbiter.grantLeases(at: now, answerTimeout: 1000, isAlive: alive.contains)
            return result
        }

        func holder(_ entity: String) -> Int64? { arbiter.leases[entity]?.holder }
        func epoch(_ entity: String) -> Int64 { arbiter.leases[entity]?.epoch ?? 0 }
    }

    @Test func aFreeLeaseIsGivenAtOnce() {
        var fixture = DeskFixture()
        fixture.ask(1, ["A", "B"])
        #expect(fixture.holder("A") == 1 && fixture.holder("B") == 1)
        #expect(fixture.arbiter.tickets.isEmpty)
    }

    @Test func aLeaseNamesTheDataSourceThatOwnsItsEntity() {
        var fixture = DeskFixture()
        fixture.ask(1, ["A", "B"], owners: ["First", "Second"])
        func sources() -> [String?] { ["A", "B", "C"].map { fixture.arbiter.leases[$0]?.source } }
        #expect(sources() == ["First", "Second", nil])
        fixture.ask(2, ["A", "C"], owners: ["Third", "Source"])
        #expect(fixture.arbiter.tickets.map(\.source) == ["Source"])
        fixture.release(1, ["A"])
        #expect(sources() == ["Third", "Second", "Source"])
    }

    @Test func leasesGoToWaitingMembersInOrder() {
        var fixture = DeskFixture()
        fixture.ask(1, ["A"])
        fixture.ask(2, ["A"])
        fixture.ask(3, ["A"])
        var epochs: Set = [fixture.epoch("A")]
        fixture.release(1, ["A"])
        #expect(fixture.holder("A") == 2)
        epochs.insert(fixture.epoch("A"))
        fixture.release(2, ["A"])
        #expect(fixture.holder("A") == 3)
        epochs.insert(fixture.epoch("A"))
        #expect(epochs.count == 3)
    }

    @Test func aTicketForSeveralLeasesIsNotOvertaken() {
        var fixture = DeskFixture()
        fixture.ask(1, ["A"])
        fixture.ask(2, ["A", "B"])
        fixture.ask(3, ["B"])
        #expect(fixture.holder("B") == nil)
        fixture.release(1, ["A"])
        #expect(fixture.holder("A") == 2 && fixture.holder("B") == 2)
        fixture.release(2, ["A", "B"])
        #expect(fixture.holder("B") == 3)
    }

    @Test func leasesOfTheDeadAreFreeAndTheirTicketsGone() {
        var fixture = DeskFixture()
        fixture.ask(1, ["A"])
        fixture.ask(2, ["A"])
        fixture.ask(3, ["A"])
        fixture.alive = [3]
        fixture.settle()
        #expect(fixture.holder("A") == 3)
        #expect(fixture.arbiter.tickets.isEmpty)
    }

    @Test func whatAMemberThatLeavesHasGoesToThoseWhoWait() {
        var fixture = DeskFixture()
        fixture.ask(1, ["A", "B"])
        fixture.ask(2, ["C"])
        fixture.ask(1, ["C"])
        fixture.ask(3, ["A"])
        fixture.leave(1)
        #expect(fixture.holder("A") == 3 && fixture.holder("B") == nil && fixture.holder("C") == 2)
        #expect(fixture.arbiter.tickets.isEmpty)
        #expect(!fixture.arbiter.involves(1) && fixture.arbiter.involves(3))
        var arbiter = LeaseArbiter(nextTicket: 1)
        _ = arbiter.take(scope: "list", for: "Source", by: 1, at: 0)
        arbiter.leave(1)
        #expect(!arbiter.isHeld(scope: "list", byOtherThan: 2) { _ in true })
    }

    @Test func aHolderThatDoesNotAnswerLosesItsLease() {
        var fixture = DeskFixture()
        fixture.ask(1, ["A"])
        fixture.ask(2, ["A"])
        let epoch = fixture.epoch("A")
        fixture.now = 1000
        fixture.settle()
        #expect(fixture.holder("A") == 1)
        fixture.now = 1001
        fixture.settle()
        #expect(fixture.holder("A") == 2)
        #expect(fixture.epoch("A") != epoch)
    }

    @Test func aHolderThatAnswersKeepsItsLease() {
        var fixture = DeskFixture()
        fixture.ask(1, ["A"])
        let ticket = fixture.ask(2, ["A"])
        fixture.confirm(1, ticket)
        fixture.now = 100_000
        fixture.settle()
        #expect(fixture.holder("A") == 1)
    }

    /// The one before it may have answered, or used up the time of those who wait.
    @Test func theNextHolderHasTimeOfItsOwnToAnswer() {
        var fixture = DeskFixture()
        fixture.ask(1, ["A"])
        let second = fixture.ask(2, ["A"])
        fixture.ask(3, ["A"])
        fixture.confirm(1, second)
        fixture.now = 900
        fixture.release(1, ["A"])
        fixture.now = 1500
        fixture.settle()
        #expect(fixture.holder("A") == 2)
        fixture.now = 1901
        fixture.settle()
        #expect(fixture.holder("A") == 3)
    }

    @Test func aTicketThatIsWithdrawnLetsOthersPass() {
        var fixture = DeskFixture()
        fixture.ask(1, ["A"])
        let ticket = fixture.ask(2, ["A", "B"])
        fixture.ask(3, ["B"])
        fixture.withdraw(2, ticket)
        #expect(fixture.holder("B") == 3)
    }

    /// Whatever happens, nobody has what another has, and who releases all lets everybody have a turn.
    @Test func everyWaitingMemberGetsItsLeases() {
        let seed = testSeed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<300 {
            var fixture = DeskFixture()
            let all = ["A", "B", "C", "D"]
            var waiting: [Int64: [String]] = [:]
            for _ in 0..<60 {
                fixture.now += 1
                let member = Int64(1 + random.next(below: 4))
                if waiting[member] == nil, random.next(below: 2) == 0 {
                    waiting[member] = Array(all.shuffled(using: &random).prefix(1 + random.next(below: 3)))
                    fixture.ask(member, waiting[member] ?? [])
                } else {
                    fixture.release(member, all)
                }
                for (member, entities) in waiting
                where !fixture.arbiter.tickets.contains(where: { $0.member == member }) {
                    #expect(
                        entities.allSatisfy { fixture.epoch($0) > 0 }, "a ticket was served with nothing, seed \(seed)")
                    waiting[member] = nil
                }
            }
            for _ in 0..<8 { for member in 1...4 { fixture.release(Int64(member), all) } }
            #expect(fixture.arbiter.tickets.isEmpty, "somebody waits for ever, seed \(seed)")
        }
    }
}
