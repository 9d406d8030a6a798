import StoreFaults
import TestSupport
import Testing

/// Some calls for the files fail while saves are made. `Scripts/stress faults` tries more of them, up to all.
struct CommitFaultTests {
    private let faults = CommitFaults(saveCount: 8, step: 8, seed: testSeed())

    /// Whichever call fails: it is an error, what was acknowledged is there, and the same save succeeds after it.
    @Test(arguments: [Fault.io, .full])
    func whicheverCallFailsTheSaveIsRefusedAndSucceedsLater(fault: Fault) throws {
        try faults.failEveryCall(with: fault, length: 1)
        #expect(faults.findings.violations == [])
    }

    /// So it is when the next fifty calls fail too.
    @Test(arguments: [Fault.io, .full])
    func aFaultThatLastsIsOvercomeOnceItIsGone(fault: Fault) throws {
        try faults.failEveryCall(with: fault, length: 50)
        #expect(faults.findings.violations == [])
    }
}
