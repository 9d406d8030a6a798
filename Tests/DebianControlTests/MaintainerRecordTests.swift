import DebianControl
import Testing

@Suite struct MaintainerRecordTests {
    @Test(
        arguments: [
            ("Jane Doe <Jane@Example.org>", "Jane Doe", "Jane@Example.org", "jane@example.org"),
            ("Jane Doe", "Jane Doe", nil, "Jane Doe"),
            ("<jane@example.org>", "", "jane@example.org", "jane@example.org"),
            ("Jane <>", "Jane", nil, "Jane"),
            ("Jane <jane@example.org", "Jane", "jane@example.org", "jane@example.org"),
        ] as [(String, String, String?, String)])
    func nameAndAddressAreSeparated(text: String, name: String, email: String?, key: String) throws {
        let maintainer = try #require(MaintainerRecord(text))
        #expect(maintainer.name == name)
        #expect(maintainer.email == email)
        #expect(maintainer.key == key)
    }

    @Test(arguments: ["", " ", "<>"]) func anEmptyMaintainerIsRefused(text: String) {
        #expect(MaintainerRecord(text) == nil)
    }

    @Test func packagesAreCountedOnceAndTheLastNameStands() throws {
        let packages = try [
            ("a", "1", "Jane <j@x.org>"), ("a", "2", "J. Doe <J@x.org>"), ("a", "1", "Ann <a@x.org>"), ("b", "1", ""),
            ("c", "1", "Jane Doe <j@x.org>"),
        ].map(package)
        let maintainers = MaintainerRecord.all(of: packages)
        #expect(maintainers.map(\.name) == ["Ann", "Jane Doe"])
        #expect(maintainers.map(\.packageCount) == [1, 2])
    }

    private func package(_ name: String, _ version: String, _ maintainer: String) throws -> PackageRecord {
        let text = "Package: \(name)\nArchitecture: all\nVersion: \(version)\nMaintainer: \(maintainer)\n"
        return try PackageRecord(try #require(parse(text).first))
    }
}
