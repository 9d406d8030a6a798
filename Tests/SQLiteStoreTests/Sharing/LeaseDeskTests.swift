import RowStore
import TestSupport
import Testing

/// Who gets which lease.
struct LeaseDeskTests {
    /// A desk, and the clock and the members around it.
    private struct Office {
        private(set) var desk = LeaseDesk(nextTicket: 1)
        private var nextTicket: Int64 = 1
        var alive: Set<Int64> = [1, 2, 3, 4]
        var now: Int64 = 0

        @discardableResult
        mutating func ask(_ member: Int64, _ entities: [String]) -> Int64 {
            let now = now
            return change { $0.draw(entities, for: "Source", by: member, at: now) }
        }

        mutating func release(_ member: Int64, _ entities: [String]) { change { $0.release(entities, by: member) } }
        mutating func answer(_ member: Int64, _ ticket: Int64) { change { $0.answer([ticket], by: member) } }
        mutating func withdraw(_ member: Int64, _ ticket: Int64) { change { $0.withdraw(ticket, by: member) } }
        mutating func settle() { change { _ in } }

        private mutating func change<R>(_ body: (inout LeaseDesk) -> R) -> R {
            nextTicket += 1
            desk = LeaseDesk(leases: desk.leases, tickets: desk.tickets, nextTicket: nextTicket)
            let result = body(&desk)
            desk.settle(at: now, patience: 1000, isAlive: alive.contains)
            return result
        }

        func holder(_ entity: String) -> Int64? { desk.leases[entity]?.holder }
        func epoch(_ entity: String) -> Int64 { desk.leases[entity]?.epoch ?? 0 }
    }

    @Test func aFreeLeaseIsGivenAtOnce() {
        var office = Office()
        office.ask(1, ["A", "B"])
        #expect(office.holder("A") == 1 && office.holder("B") == 1)
        #expect(office.desk.tickets.isEmpty)
    }

    @Test func leasesGoToThoseWhoWaitInTheirOrder() {
        var office = Office()
        office.ask(1, ["A"])
        office.ask(2, ["A"])
        office.ask(3, ["A"])
        var epochs: Set = [office.epoch("A")]
        office.release(1, ["A"])
        #expect(office.holder("A") == 2)
        epochs.insert(office.epoch("A"))
        office.release(2, ["A"])
        #expect(office.holder("A") == 3)
        epochs.insert(office.epoch("A"))
        #expect(epochs.count == 3)
    }

    @Test func aTicketForSeveralLeasesIsNotOvertaken() {
        var office = Office()
        office.ask(1, ["A"])
        office.ask(2, ["A", "B"])
        office.ask(3, ["B"])
        #expect(office.holder("B") == nil)
        office.release(1, ["A"])
        #expect(office.holder("A") == 2 && office.holder("B") == 2)
        office.release(2, ["A", "B"])
        #expect(office.holder("B") == 3)
    }

    @Test func leasesOfTheDeadAreFreeAndTheirTicketsGone() {
        var office = Office()
        office.ask(1, ["A"])
        office.ask(2, ["A"])
        office.ask(3, ["A"])
        office.alive = [3]
        office.settle()
        #expect(office.holder("A") == 3)
        #expect(office.desk.tickets.isEmpty)
    }

    @Test func aHolderThatDoesNotAnswerLosesItsLease() {
        var office = Office()
        office.ask(1, ["A"])
        office.ask(2, ["A"])
        let epoch = office.epoch("A")
        office.now = 1000
        office.settle()
        #expect(office.holder("A") == 1)
        office.now = 1001
        office.settle()
        #expect(office.holder("A") == 2)
        #expect(office.epoch("A") != epoch)
    }

    @Test func aHolderThatAnswersKeepsItsLease() {
        var office = Office()
        office.ask(1, ["A"])
        let ticket = office.ask(2, ["A"])
        office.answer(1, ticket)
        office.now = 100_000
        office.settle()
        #expect(office.holder("A") == 1)
    }

    /// The one before it may have answered, or used up the time of those who wait.
    @Test func theNextHolderHasTimeOfItsOwnToAnswer() {
        var office = Office()
        office.ask(1, ["A"])
        let second = office.ask(2, ["A"])
        office.ask(3, ["A"])
        office.answer(1, second)
        office.now = 900
        office.release(1, ["A"])
        office.now = 1500
        office.settle()
        #expect(office.holder("A") == 2)
        office.now = 1901
        office.settle()
        #expect(office.holder("A") == 3)
    }

    @Test func aTicketThatIsWithdrawnLetsOthersPass() {
        var office = Office()
        office.ask(1, ["A"])
        let ticket = office.ask(2, ["A", "B"])
        office.ask(3, ["B"])
        office.withdraw(2, ticket)
        #expect(office.holder("B") == 3)
    }

    /// Whatever happens, nobody has what another has, and who releases all lets everybody have a turn.
    @Test func everybodyGetsATurn() {
        let seed = testSeed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<300 {
            var office = Office()
            let all = ["A", "B", "C", "D"]
            var waiting: [Int64: [String]] = [:]
            for _ in 0..<60 {
                office.now += 1
                let member = Int64(1 + random.next(below: 4))
                if waiting[member] == nil, random.next(below: 2) == 0 {
                    waiting[member] = Array(all.shuffled(using: &random).prefix(1 + random.next(below: 3)))
                    office.ask(member, waiting[member] ?? [])
                } else {
                    office.release(member, all)
                }
                for (member, entities) in waiting
                where !office.desk.tickets.contains(where: { $0.member == member }) {
                    #expect(
                        entities.allSatisfy { office.epoch($0) > 0 }, "a ticket was served with nothing, seed \(seed)")
                    waiting[member] = nil
                }
            }
            for _ in 0..<8 { for member in 1...4 { office.release(Int64(member), all) } }
            #expect(office.desk.tickets.isEmpty, "somebody waits for ever, seed \(seed)")
        }
    }
}
