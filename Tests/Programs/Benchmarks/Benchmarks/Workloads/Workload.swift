internal import Foundation

/// One or several lines of the report.
struct Workload: Sendable {
    let id: String
    /// Whether it is given a closed store with a million rows.
    var needsMillion = false
    let run: @Sendable (_ bench: Bench, _ million: URL) async throws -> [Outcome]

    static let all: [Workload] = single + pages + onServers

    private static let single: [Workload] = [
        Workload(id: "W1") { bench, _ in [try await bench.adding()] },
        Workload(id: "W1-linked") { bench, _ in [try await bench.addingLinked()] },
        Workload(id: "W1-others") { bench, _ in [try await bench.savingBeside()] },
        Workload(id: "W1-wait") { bench, _ in [try await bench.waitingBeside(largeSaves: 1)] },
        Workload(id: "W1-wait-two") { bench, _ in [try await bench.waitingBeside(largeSaves: 2)] },
        Workload(id: "W2") { bench, _ in [try await bench.syncing(isSame: false)] },
        Workload(id: "W2-same") { bench, _ in [try await bench.syncing(isSame: true)] },
        Workload(id: "W3-sync") { bench, _ in [try await bench.savingOne(.blocking)] },
        Workload(id: "W3-async") { bench, _ in [try await bench.savingOne(.awaited)] },
        Workload(id: "W3-full") { bench, _ in [try await bench.savingOne(.durable)] },
        Workload(id: "W4") { bench, _ in [try await bench.savingFromTasks()] },
        Workload(id: "W5-registered") { bench, _ in [try await bench.findingRegistered()] },
        Workload(id: "W5-store") { bench, _ in [try await bench.findingInStore()] },
        Workload(id: "W6-unread") { bench, _ in [try await bench.fetching(isRead: false)] },
        Workload(id: "W6-read") { bench, _ in [try await bench.fetching(isRead: true)] },
        Workload(id: "W6-pages", needsMillion: true) { bench, million in try await bench.readingPages(million) },
        Workload(id: "W11-main-10k") { bench, _ in
            [try await bench.followingOnMain("W11-main-10k", rows: 10_000, aim: "50 us")]
        },
        Workload(id: "W11-main-100k") { bench, _ in
            [try await bench.followingOnMain("W11-main-100k", rows: 100_000, aim: "150 us")]
        },
        Workload(id: "W11-main-million", needsMillion: true) { bench, million in
            [try await bench.followingMillion(million)]
        },
        Workload(id: "W11-50lists") { bench, _ in
            [try await bench.followingOnMain("W11-50lists", rows: 10_000, lists: 50, aim: "")]
        },
        Workload(id: "W11-e2e-10k") { bench, _ in
            [try await bench.followingEndToEnd("W11-e2e-10k", rows: 10_000, aim: "1 ms")]
        },
        Workload(id: "W11-e2e-100k") { bench, _ in
            [try await bench.followingEndToEnd("W11-e2e-100k", rows: 100_000, aim: "2 ms")]
        },
        Workload(id: "W11-1000") { bench, _ in
            [try await bench.followingBulk("W11-1000", rows: 100_000, aim: "5 ms")]
        },
        Workload(id: "W12", needsMillion: true) { bench, million in [try await bench.starting(million)] },
        Workload(id: "W12-killed") { bench, _ in [try await bench.startingAfterKill()] },
        Workload(id: "W13") { bench, _ in [try await bench.importing("W13")] },
        Workload(id: "W13-reload") { bench, _ in [try await bench.importing("W13-reload", changeLimit: 200)] },
        Workload(id: "W13-bound") { bench, _ in [try await bench.importing("W13-bound", isAllBound: true)] },
        Workload(id: "W13-register") { bench, _ in [try await bench.registering()] },
        Workload(id: "W14", needsMillion: true) { bench, million in [try await bench.resetting(million)] },
        Workload(id: "W15") { bench, _ in [try await bench.addingInBatches()] },
        Workload(id: "W15-bytes") { bench, _ in try await bench.countingBytes() },
        Workload(id: "W16") { bench, _ in [try await bench.updatingMany()] },
        Workload(id: "W16-million", needsMillion: true) { bench, million in
            try await bench.updatingMillion(million)
        },
        Workload(id: "W17") { bench, _ in [try await bench.aggregating()] },
        Workload(id: "W17-groups") { bench, _ in [try await bench.aggregatingGroups()] },
        Workload(id: "W18") { bench, _ in [try await bench.fetchingRelated()] },
        Workload(id: "W19") { bench, _ in [try await bench.countingRelated()] },
        Workload(id: "W20") { bench, _ in [try await bench.deletingRelated()] },
        Workload(id: "W21") { bench, _ in [try await bench.reordering()] },
        Workload(id: "W22-1") { bench, _ in [try await bench.savingShared(1, aim: "2.0")] },
        Workload(id: "W22-100") { bench, _ in [try await bench.savingShared(100, aim: "1.5")] },
        Workload(id: "W22-1000") { bench, _ in [try await bench.savingShared(1000, aim: "1.5")] },
        Workload(id: "W22-10000") { bench, _ in [try await bench.savingShared(10_000, aim: "1.1")] },
        Workload(id: "W23") { bench, _ in [try await bench.alternating()] },
        Workload(id: "W23-both") { bench, _ in [try await bench.savingBoth()] },
        Workload(id: "W26-add") { bench, _ in [try await bench.recordingAdd()] },
        Workload(id: "W26-sync") { bench, _ in [try await bench.recordingSync()] },
        Workload(id: "W26-one") { bench, _ in [try await bench.recordingOne()] },
        Workload(id: "W27") { bench, _ in try await bench.readingAndTrimming() },
        Workload(id: "W28-fresh") { bench, _ in [try await bench.loadingFresh()] },
        Workload(id: "W28-askers") { bench, _ in [try await bench.loadingTogether()] },
        Workload(id: "W31") { bench, _ in
            [try await bench.followingManyLists("W31", lists: 1000, aim: "")]
        },
        Workload(id: "W31-100") { bench, _ in
            [try await bench.followingManyLists("W31-100", lists: 100, aim: "")]
        },
        Workload(id: "W31-ranges") { bench, _ in
            [try await bench.followingManyLists("W31-ranges", lists: 1000, areRanges: true, aim: "")]
        },
        Workload(id: "W32") { bench, _ in [try await bench.readingFromTasks()] },
        Workload(id: "W33") { bench, _ in try await bench.idling("W33", isShared: false) },
        Workload(id: "W33-shared") { bench, _ in try await bench.idling("W33-shared", isShared: true) },
        Workload(id: "W34") { bench, _ in [try await bench.linkingAfterReads()] },
        Workload(id: "W25-file") { bench, _ in [try await bench.followingProcess()] },
    ]

    private static let pages = Page.all.map { page in
        Workload(id: page.id) { bench, _ in [try await bench.paging(page)] }
    }
}
