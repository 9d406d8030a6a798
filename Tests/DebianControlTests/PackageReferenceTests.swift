import DebianControl
import Testing

/// Dependencies as Debian writes them.
@Suite struct PackageReferenceTests {
    @Test func namesVersionsAndArchitecturesAreRead() throws {
        let reference = try #require(PackageReference("libc6:amd64 ( >=2.34~rc1 )"))
        #expect(reference.name == "libc6" && reference.architecture == "amd64")
        #expect(reference.version?.relation == .laterOrEqual && reference.version?.version == "2.34~rc1")
        #expect(reference.text == "libc6:amd64 (>= 2.34~rc1)")
        let plain = try #require(PackageReference(" g++ "))
        #expect(plain.name == "g++" && plain.architecture == nil && plain.version == nil)
        #expect(PackageReference("gcc (= 1:2-3) [amd64 i386] <!nocheck>")?.text == "gcc (= 1:2-3)")
        #expect(PackageReference("old (< 2)")?.version?.relation == .earlierOrEqual)
        #expect(PackageReference("old (> 2)")?.version?.relation == .laterOrEqual)
    }

    @Test func requirementsAreReadWithTheirAlternatives() throws {
        let requirements = try #require(
            PackageReference.requirements("a, b (>> 1) | c:any|d (<< 2),\n e,"))
        #expect(requirements.map { $0.map(\.text) } == [["a"], ["b (>> 1)", "c:any", "d (<< 2)"], ["e"]])
        #expect(PackageReference.requirements(" ")?.isEmpty == true)
    }

    @Test(arguments: [
        "a (1)", "a (>= )", "a b", "a |", "| a", "a (>= 1", "a (=> 1)", "a: ", "(>= 1)", "a]", "a (>= 1 2)",
    ])
    func invalidDependenciesAreRefused(text: String) {
        #expect(PackageReference.requirements(text) == nil)
    }

    /// Pairs from the Policy Manual and from the tests of dpkg.
    @Test(
        arguments: [
            ("1.0", "1.1"), ("1.9", "1.10"), ("1.0~rc1", "1.0"), ("~~", "~~a"), ("~~a", "~"), ("~", ""), ("", "a"),
            ("1.0", "1.0a"), ("1.0a", "1.0+"), ("1.0-1", "1.0-2"), ("9.9", "1:0"), ("1.0", "1.0-1"), ("2.34", "2.34.1"),
            ("1.0z", "1.0.1"),
        ])
    func versionsAreInDebiansOrder(lower: String, higher: String) {
        #expect(DebianVersion(lower) < DebianVersion(higher))
        #expect(!(DebianVersion(higher) < DebianVersion(lower)))
        #expect(DebianVersion(lower) != DebianVersion(higher))
    }

    @Test func versionsThatDifferInZerosAreEqual() {
        #expect(DebianVersion("1.0") == DebianVersion("1.00"))
        #expect(DebianVersion("0:1-0") == DebianVersion("1"))
    }

    @Test func aConstraintAllowsWhatItSays() throws {
        func allows(_ constraint: String, _ version: String) throws -> Bool {
            try #require(PackageReference("a (\(constraint))")?.version).allows(version)
        }
        for (constraint, versions) in [
            (">= 2", [false, true, true]), (">> 2", [false, false, true]), ("= 2", [false, true, false]),
            ("<= 2", [true, true, false]), ("<< 2", [true, false, false]),
        ] {
            for (version, isAllowed) in zip(["1", "2", "3"], versions) {
                #expect(try allows(constraint, version) == isAllowed, "\(constraint) \(version)")
            }
        }
    }
}
