import ErrorExpectations
import Foundation
import ManagedModel
import ModelReader
import Testing

@Suite struct HostileFileTests {
    static let bomb = """
        <!DOCTYPE model [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>
        <model><entity name="&b;"/></model>
        """

    @Test(arguments: [
        bomb, "<?xml version=\"1.0\"?>" + bomb, "\u{FEFF}<?xml version=\"1.0\"?>\n" + bomb, "\n\n  <!-- x -->" + bomb,
        "<?pi <?xml?>" + bomb, "<!-- <model> -->\n<!doctype model>\n<model/>", "<model><!ENTITY a \"b\"></model>",
        "<!DOCTYPE model SYSTEM \"file:///etc/hostname\"><model/>", "<!-- \" -->" + bomb, "<!",
    ])
    func aDeclarationIsRefusedWhereverItStands(_ text: String) throws {
        #expect(try errorReading(Data(text.utf8)).code == .documentTypeRefused)
    }

    @Test(arguments: [String.Encoding.utf16, .utf16BigEndian, .utf16LittleEndian, .utf32, .utf32BigEndian])
    func otherUnicodeEncodingsAreRefused(_ encoding: String.Encoding) throws {
        let data = try #require(Self.bomb.data(using: encoding))
        #expect(try errorReading(data).code == .unsupportedEncoding)
    }

    @Test(arguments: ["UTF-7", "UTF-16", "ISO-8859-1", "windows-1252", "IBM037", ""])
    func otherDeclaredEncodingsAreRefused(_ name: String) throws {
        let text = "<?xml version='1.0' encoding = '\(name)' ?><model/>"
        #expect(try errorReading(Data(text.utf8)).code == .unsupportedEncoding)
    }

    @Test(arguments: [[0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0x4C, 0x6F, 0xA7, 0x94], [0]])
    func bytesThatAreNotUTF8AreRefused(_ bytes: [UInt8]) throws {
        let data = Data("<model a=\"".utf8) + Data(bytes) + Data("\"/>".utf8)
        #expect(try errorReading(data).code == .unsupportedEncoding)
    }

    @Test(arguments: ["utf-8", "UTF-8", "US-ASCII"])
    func theEncodingsThatAreReadAreUTF8AndItsPart(_ name: String) throws {
        let text = "<?xml version=\"1.0\" encoding=\"\(name)\"?><model><entity name=\"E\"/></model>"
        #expect(try ModelReader.read(data: Data(text.utf8), name: "M").model.entities.count == 1)
    }

    @Test(arguments: [
        "", " ", "x", "<", "<model", "<model a=\"", "<model>", "<model></entity></model>", "<model/><model/>",
        "<model><entity></model></entity>", "<model a='1' a='2'/>", "<model a=\"&b;\"/>", "</model>", "<model a=b/>",
        "<model a=\"<\"/>", "<model><!-- x", "<model><![CDATA[", "<?xml", "<?xml version", "<model>&undefined;</model>",
        " <?xml version=\"1.0\"?><model/>", "<model a=\"\u{1}\"/>", "<model><entity name=\"E\"/>", "<model/>x", "<>",
        "<model a=\"1\"b=\"2\"/>",
    ])
    func filesThatAreNotXMLAreRefused(_ text: String) throws {
        let error = try errorReading(Data(text.utf8))
        #expect(error.code == .malformedXML, "\(error)")
    }

    @Test func aBinaryArchiveIsCalledByItsName() throws {
        #expect(try errorReading(Data("bplist00abc".utf8)).code == .binaryModel)
    }

    @Test(arguments: ["<plist version=\"1.0\"/>", "<model type=\"com.example.Other\"/>", "<html/>"])
    func otherXMLIsNotAModel(_ text: String) throws {
        #expect(try errorReading(Data(text.utf8)).code == .notAModel)
    }

    @Test func depthIsLimited() throws {
        let deep = String(repeating: "<a>", count: 64) + String(repeating: "</a>", count: 64)
        #expect(try errorReading(deep).code == .tooDeep)
        let veryDeep = String(repeating: "<a>", count: 1_000_000)
        #expect(try errorReading(Data(veryDeep.utf8)).code == .tooDeep)
        let allowed = String(repeating: "<a>", count: 63) + String(repeating: "</a>", count: 63)
        #expect(try read(allowed).diagnostics.count == 1)
    }

    @Test func sizeIsLimited() throws {
        #expect(try errorReading(Data(count: 16 << 20 + 1)).code == .tooLarge)
        let directory = try TemporaryDirectory()
        try directory.write(Data(repeating: 32, count: 16 << 20 + 1), to: "M.xcdatamodel/contents")
        let error = try requireThrows(ModelReaderError.self) {
            try ModelReader.read(directory.url.appending(path: "M.xcdatamodel"))
        }
        #expect(error.code == .tooLarge)
    }

    @Test func theNumbersOfElementsAndAttributesAreLimited() throws {
        let elements = String(repeating: "<a/>", count: 500_001)
        #expect(try errorReading(elements).code == .tooLarge)
        let attributes = (0...256).map { "a\($0)=''" }.joined(separator: " ")
        #expect(try errorReading("<entity \(attributes)/>").code == .tooLarge)
    }

    @Test func theNumberOfEntitiesIsLimited() throws {
        func entities(_ count: Int) -> String { (0..<count).map { "<entity name=\"E\($0)\"/>" }.joined() }
        #expect(try read(entities(10_000)).model.entities.count == 10_000)
        #expect(try errorReading(entities(10_001)).code == .tooLarge)
    }

    @Test func aFileUpToTheLimitIsRead() throws {
        let padding = String(repeating: String(repeating: " ", count: 99) + "\n", count: 150_000)
        #expect(try readPlainly("<entity name=\"A\"/>\(padding)<entity name=\"B\"/>").entities.count == 2)
    }

    @Test func diagnosticsDoNotFloodTheLog() throws {
        let document = try read(String(repeating: "<unknown/>\n", count: 5_000))
        #expect(document.diagnostics.count == 1_001)
        #expect(document.diagnostics.last?.message == "Further warnings that are not listed: 4000.")
    }

    @Test func escapesAreReadOnce() throws {
        let model = try readPlainly(
            "<entity name=\"E\"><userInfo><entry key=\"&amp;#38;&lt;&#233;\" value=\"&quot;&#10;é\"/></userInfo></entity>"
        )
        #expect(model.entity(named: "E")?.userInfo == ["&#38;<é": "\"\né"])
    }

    @Test func aLongFileIsReadAcrossTheParsersChunks() throws {
        let names = (0..<3_000).map { "entity_with_a_long_name_\($0)" }
        let model = try readPlainly(names.map { "<entity name=\"\($0)\"/>" }.joined(separator: "\n"))
        #expect(Set(model.entities.map(\.name)) == Set(names))
    }

    @Test(arguments: ["<?x?>", "<?x ?>", "<?x y?>", "<?x\n?>"])
    func processingInstructionsArePassedOver(_ instruction: String) throws {
        let text = "\(instruction)<model><entity name=\"E\">\(instruction)</entity></model>\(instruction)"
        let model = try ModelReader.read(data: Data(text.utf8), name: "Test").model
        #expect(model.entities.map(\.name) == ["E"])
    }

    @Test(arguments: ["<!--<?x?>-->", "<!-- -- <?x?>-->", "<![CDATA[<?x?>]]>"])
    func contentThatIsNoMarkupIsSkipped(_ text: String) throws {
        let model = try ModelReader.read(
            data: Data("\(text.hasPrefix("<![") ? "" : text)<model>\(text)<entity name=\"E\"/></model>".utf8),
            name: "Test"
        ).model
        #expect(model.entities.map(\.name) == ["E"])
    }

    /// A parser that goes on after a broken tag would find an instruction there.
    @Test(arguments: ["<a<?x?>/>", "<a b=\"<?x?>\"/>", "<a b='\"<?x?>'/>", "<a></a<?x?>>", "<a/ <?x?>>", "<a <b/>"])
    func aTagWithinATagIsRefused(_ text: String) throws {
        let error = expectThrows(ModelReaderError.self) {
            try ModelReader.read(data: Data("<model>\n\(text)</model>".utf8), name: "Test")
        }
        #expect(error?.code == .malformedXML)
        #expect(error?.line == 2)
    }

    @Test(arguments: ["<?xml?>", "<?xml ?>", "<?xml version=\"1.0\"?>"])
    func aDeclarationInTheWrongPlaceIsRefused(_ declaration: String) {
        expectThrows(ModelReaderError.self) {
            try ModelReader.read(data: Data("<model>\(declaration)</model>".utf8), name: "Test")
        }
        expectThrows(ModelReaderError.self) {
            try ModelReader.read(data: Data("<?xml?><model>\(declaration)</model>".utf8), name: "Test")
        }
    }
}
