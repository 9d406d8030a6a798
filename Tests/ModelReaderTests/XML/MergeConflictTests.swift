import ErrorExpectations
import Foundation
import ManagedModel
import ModelReader
import Testing

/// What Git leaves in a file that it could not merge is called that, not malformed XML.
@Suite struct MergeConflictTests {
    private static let entity = "<entity name=\"A\"/>"

    @Test(arguments: [
        ("\(entity)\n<<<<<<< HEAD\n<entity name=\"B\"/>\n=======\n<entity name=\"C\"/>\n>>>>>>> theirs", 4),
        ("\(entity)\n<<<<<<< HEAD\r\n=======\r\n>>>>>>> theirs\r\n", 4),
        ("<entity name=\"A\"\n<<<<<<< HEAD\nisAbstract=\"YES\"/>", 4),
        ("\(entity)\n|||||||\n\(entity)", 4),
        // Somebody removed one of the marks.
        ("\(entity)\n=======\n<entity name=\"C\"/>", 4),
        ("\(entity)\n\n>>>>>>> theirs", 5),
        ("<<<<<<<", 3),
    ])
    func aConflictIsNamedWithItsLine(_ elements: String, _ line: Int) throws {
        let error = try requireThrows(ModelReaderError.self) { try read(elements) }
        #expect(error.code == .mergeConflict)
        #expect(error.line == line)
        #expect(error.message.hasPrefix("Git left a merge conflict here. Resolve the conflict:"))
    }

    @Test(arguments: [
        "<!--\n=======\nTitle\n=======\n-->", "<!-- <<<<<<< HEAD -->", "<!--\n <<<<<<< HEAD\n-->",
        "<!--\n<<<<<<<<\n-->",
        "<!--\n>>>>>>>x\n-->",
    ])
    func linesThatOnlyLookLikeAConflictAreRead(_ comment: String) throws {
        #expect(try read(comment + Self.entity).model.entities.count == 1)
    }

    /// The search goes through the bytes once and keeps none of them.
    @Test func aFileOfManyLinesIsReadAllTheSame() throws {
        let lines = String(repeating: "\n", count: 1 << 20)
        #expect(try read(lines + Self.entity).model.entities.count == 1)
        expectThrows(ModelReaderError.self) { try read(lines + "<<<<<<< HEAD") }
    }
}
