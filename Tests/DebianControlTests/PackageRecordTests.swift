import DebianControl
import ErrorExpectations
import Testing

@Suite struct PackageRecordTests {
    private let key = "Package: a\nArchitecture: all\nVersion: 1:2-3\n"

    @Test func aWholeRecordIsRead() throws {
        let package = try package(
            key + """
                Status: install ok installed
                Section: utils
                Priority: optional
                Maintainer: Jane Doe <Jane@Example.org>
                Installed-Size: 12
                Size: 345
                SHA256: abc
                Depends: b,
                 c (>= 1)
                Homepage: https://example.org/a
                Description: short
                 long
                """)
        #expect(package.key == "a:all=1:2-3")
        #expect(package.maintainer?.key == "jane@example.org")
        #expect(package.summary == "short")
        #expect(package.depends == "b, c (>= 1)")
        #expect(package.installedSize == 12)
        #expect(package.size == 345)
    }

    @Test func onlyTheKeyIsRequired() throws {
        let package = try package(key)
        #expect(package.section == "")
        #expect(package.maintainer == nil)
        #expect(package.size == nil)
    }

    @Test(
        arguments: [
            "Package: a\nVersion: 1", "Package: a\nArchitecture: all", "Package:\nArchitecture: all\nVersion: 1",
        ])
    func aKeyThatIsNotWholeIsAFault(text: String) {
        expectThrows(ControlFault.self) { try package(text) }
    }

    @Test(arguments: ["deinstall ok config-files", "unknown ok not-installed"])
    func aPackageThatIsNotInstalledNeedsANameOnly(status: String) throws {
        #expect(try package("Package: a\nStatus: \(status)").key == "a:=")
        expectThrows(ControlFault.self) { try package("Status: \(status)") }
    }

    @Test(arguments: ["Installed-Size: much", "Size: -1", "Size: 1 2", "Version: 2", "Architecture: any", "no field"])
    func aLineThatCannotBeTrueIsAFault(line: String) {
        expectThrows(ControlFault.self) { try package(key + line) }
    }

    @Test(
        arguments: [
            "Package: a b\nArchitecture: all", "Package: a:b\nArchitecture: all", "Package: a\nArchitecture: x=y",
        ])
    func aKeyIsMadeOfSingleWords(text: String) {
        expectThrows(ControlFault.self) { try package(text + "\nVersion: 1") }
    }

    @Test func aFaultNamesItsLine() {
        let fault = expectThrows(ControlFault.self) { try package("\n" + key + "Size: x") }
        #expect(fault == ControlFault(line: 5, message: "Size is not a number"))
    }

    private func package(_ text: String) throws -> PackageRecord {
        try PackageRecord(try #require(parse(text).first))
    }
}
