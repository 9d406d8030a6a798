import Foundation
import ManagedModel
import ModelReader
import TestSupport
import Testing

@Suite struct InitCommandTests {
    private let program: Program

    init() throws {
        program = try Program()
    }

    @Test func theModelIsReadWithOneEntityAndItsKey() async throws {
        let outcome = try await program.run("init", "Sources/app/Notes.xcdatamodeld", "--entity", "NoteEntity")
        #expect(outcome.status == 0 && outcome.errors == "")
        #expect(
            outcome.output == "wrote Sources/app/Notes.xcdatamodeld: NoteEntity with createdAt, name, note, uid\n")
        let document = try ModelReader.read(program.file("Sources/app/Notes.xcdatamodeld"))
        #expect(document.diagnostics.isEmpty)
        #expect(document.model.name == "Notes" && document.model.version == "Notes")
        let entity = try #require(document.model.entity(named: "NoteEntity"))
        #expect(document.model.entities.count == 1)
        #expect(entity.className == "NoteEntity")
        #expect(entity.attributes.map(\.name) == ["createdAt", "name", "note", "uid"])
        #expect(entity.attributes.map(\.isOptional) == [true, false, true, false])
        #expect(entity.uniquenessConstraints == [["uid"]])
    }

    @Test func theModelIsNamedModelByDefault() async throws {
        #expect(try await program.run("init").status == 0)
        #expect(try await program.run("init", "Model.xcdatamodeld").status == 0)
        #expect(try ModelReader.read(program.file("Model.xcdatamodeld")).model.entities.map(\.name) == ["ItemEntity"])
        #expect(try await program.run("check", "Model", "--update").status == 0)
        #expect(try await program.run("diff", "Model", "Model.xcdatamodeld").status == 0)
    }

    @Test func theNameMayHaveItsExtensionAndAnyCharacter() async throws {
        let answer = try await program.json("init", "A & <B>.xcdatamodeld")
        #expect(answer["model"] as? String == "A & <B>.xcdatamodeld")
        #expect(answer["entity"] as? String == "ItemEntity")
        #expect(try ModelReader.read(program.file("A & <B>.xcdatamodeld")).model.name == "A & <B>")
    }

    @Test func existingFilesAreNeverOverwritten() async throws {
        let path = try program.write(Shop.first)
        let contents = program.file("\(path)/Shop.xcdatamodel/contents")
        let old = try Data(contentsOf: contents)
        let outcome = try await program.run("init", "Shop.xcdatamodeld", "--entity", "Item")
        #expect(outcome.status == 2)
        #expect(outcome.output == "")
        #expect(
            outcome.errors
                == "model-reset: error: Shop.xcdatamodeld already exists; choose another name, or delete Shop.xcdatamodeld "
                + "first\n")
        #expect(try Data(contentsOf: contents) == old)
    }

    @Test func aFolderThatCannotBeMadeIsAnError() async throws {
        try Data().write(to: program.file("file"))
        let outcome = try await program.run("init", "file/Notes.xcdatamodeld")
        #expect(outcome.status == 2)
        #expect(outcome.errors.hasPrefix("model-reset: error: the folder file/Notes.xcdatamodeld cannot be made ("))
    }

    @Test func theModelOfTheReadmeIsWhatItWrites() async throws {
        #expect(try await program.run("init", "Contacts", "--entity", "ContactEntity").status == 0)
        let written = try FileManager.default.contentsOfDirectory(atPath: program.file("Contacts").path).sorted()
        let example = PackageFiles.tests.appending(path: "Programs/ReadmeExample/Contacts")
        #expect(try FileManager.default.contentsOfDirectory(atPath: example.path).sorted() == written)
        for file in written {
            let text = try String(contentsOf: program.file("Contacts/\(file)"), encoding: .utf8)
            #expect(try String(contentsOf: example.appending(component: file), encoding: .utf8) == text, "\(file)")
        }
    }
}
