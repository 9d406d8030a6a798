import Foundation
import TestSupport
import Testing

@Suite struct DiagramCommandTests {
    private let program: Program

    init() throws {
        program = try Program()
    }

    @Test func everyEntityIsDrawnWithItsProperties() async throws {
        let outcome = try await program.run(
            "diagram", PackageFiles.root.appending(path: "Models/Contacts.xcdatamodeld").path)
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("<svg xmlns=\"http://www.w3.org/2000/svg\""))
        for text in ["BaseEntity", "ContactEntity", "GroupEntity", "birthday", "Date?", "GroupEntity 0…1"] {
            #expect(outcome.output.contains(">\(text)</text>"), "\(text)")
        }
        let drawing = try DrawnBoxes(outcome.output)
        #expect(drawing.boxes.count == 3)
        #expect(drawing.overlaps.isEmpty)
        #expect(drawing.isInsideThePage)
    }

    @Test func theDrawingGoesToAFile() async throws {
        let path = try program.write(Shop.first)
        let outcome = try await program.run("diagram", path, "--output", "shop.svg")
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("shop.svg: "))
        let text = try String(contentsOf: program.file("shop.svg"), encoding: .utf8)
        #expect(try await program.run("diagram", path).output == text)
        #expect(try await program.json("diagram", path)["svg"] as? String == text)
        #expect(try await program.run("diagram", path, "--output", "new/folder/shop.svg").status == 0)
        #expect(try String(contentsOf: program.file("new/folder/shop.svg"), encoding: .utf8) == text)
        #expect(try await program.run("diagram", path, "--output", "shop.svg/in/a/file.svg").status == 2)
    }

    @Test func namesCannotBecomeMarkup() async throws {
        let path = try program.write("<entity name=\"&lt;script&gt;&amp;&quot;\"/>")
        let drawing = try DrawnBoxes(try await program.run("diagram", path).output)
        #expect(drawing.boxes.count == 1)
    }

    @Test func aModelWithoutEntitiesIsAnEmptyPage() async throws {
        let outcome = try await program.run("diagram", try program.write(""))
        #expect(outcome.status == 0)
        #expect(try DrawnBoxes(outcome.output).boxes.isEmpty)
    }

    @Test func anEntityMayRelateToItselfAndToAllOthers() async throws {
        let names = (1...12).map { "E\($0)" }
        let entities = names.map { name in
            let relationships = names.map { other in
                "<relationship name=\"to\(other)\" toMany=\"YES\" destinationEntity=\"\(other)\" "
                    + "inverseName=\"to\(name)\" inverseEntity=\"\(other)\"/>"
            }
            return "<entity name=\"\(name)\">\(relationships.joined())</entity>"
        }
        let drawing = try DrawnBoxes(try await program.run("diagram", try program.write(entities.joined())).output)
        #expect(drawing.boxes.count == 12)
        #expect(drawing.overlaps.isEmpty)
        #expect(drawing.isInsideThePage)
    }
}
