import CoreDataSourceStores
import FrameworkNames
import Testing

/// All that an author of a shared store writes is exported by the library that apps import.
struct SharedStoreAuthorTests {
    @Test func anAuthorSaysHowLongABatchMayRelyOnWhatWasRead() {
        let sharing: any StoreSharing = TrustedSharing()
        #expect(sharing.trust?.number == 1)
    }
}

/// Stands for a store on a server, of which only the trust matters.
private struct TrustedSharing: StoreSharing {
    var trust: LeaseTrust? { LeaseTrust(number: 1, end: .now + .seconds(2)) }

    let member = StoreMember(number: 1, processID: 1, name: "test")
    let firstPosition: Int64 = 0
    let leaseTimes = LeaseTimes()
    private let table = LeaseTable(version: 0, leases: [], tickets: [])

    func reserveKeys(_ count: Int64) throws(DataSourceError) -> Range<Int64> { 1..<count + 1 }

    func readFeed(after position: Int64) throws(DataSourceError) -> FeedPage {
        FeedPage(position: position, events: [], isMore: false, foundOutsideWrites: false, leaseVersion: 0)
    }

    func readSaves(after position: Int64) throws(DataSourceError) -> FeedPage { try readFeed(after: position) }

    func leases() throws(DataSourceError) -> LeaseTable { table }

    func takeLeases(
        _ entities: [Int], for source: String
    ) throws(DataSourceError) -> (ticket: Int64?, table: LeaseTable) { (nil, table) }

    func releaseLeases(_ entities: [Int]) throws(DataSourceError) -> LeaseTable { table }

    func settleLeases(answered: [Int64], withdrawn: Int64?) throws(DataSourceError) -> LeaseTable { table }

    func listen(_ handler: @escaping @Sendable () -> Void) {}
}
