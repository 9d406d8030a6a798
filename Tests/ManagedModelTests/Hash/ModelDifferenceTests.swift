import ManagedModel
@testable import ModelMigration
import Testing

@Suite struct ModelDifferenceTests {
    @Test func aModelDoesNotDifferFromItself() {
        #expect(ModelDifference(from: Library.model, to: Library.model).isEmpty)
    }

    @Test(arguments: ModelChange.persisted)
    func changesOfTheHashAreListed(_ change: ModelChange) {
        #expect(!ModelDifference(from: Library.model, to: change.model).isEmpty)
    }

    @Test(arguments: ModelChange.unpersisted)
    func changesThatKeepTheHashAreNotListed(_ change: ModelChange) {
        #expect(ModelDifference(from: Library.model, to: change.model).isEmpty)
    }

    @Test func entitiesAreAddedAndRemoved() {
        var model = Library.model
        model.entities[0].name = "Writer"
        #expect(lines(to: model) == ["Author: removed", "Writer: added"])
    }

    @Test func anEntitysOwnChangesAreNamed() {
        let model = Library.editing("Book") {
            $0.parentName = nil
            $0.isAbstract = true
            $0.versionHashModifier = nil
            $0.uniquenessConstraints = [["title", "pages"]]
        }
        #expect(
            lines(to: model) == [
                "Book: parent Item -> none", "Book: concrete -> abstract",
                "Book: version hash modifier \"1\" -> none", "Book: uniqueness constraint (pages, title) added",
            ])
    }

    @Test func attributesChangesAreNamed() {
        let model = Library.editing("Book") {
            $0.attribute("title") { $0.isOptional = false }
            $0.attribute("pages") { $0.type = .double }
            $0.attribute("authorName") { $0.derivationExpression = nil }
            $0.attribute("isOpen") { $0.isTransient = false }
        }
        #expect(
            lines(to: model) == [
                "Book.authorName: derivation author.name -> none", "Book.isOpen: added (Boolean, required)",
                "Book.pages: Integer 32 -> Double", "Book.title: optional -> required",
            ])
    }

    @Test func leavesOfCompositesAreNamedByTheirPath() {
        var model = Library.model
        model.composites[0].attributes[0].type = .integer64
        #expect(lines(to: model) == ["Item.place.shelf: Integer 16 -> Integer 64"])
    }

    @Test func relationshipsChangesAreNamed() {
        let model = Library.editing("Author") {
            $0.relationship("books") {
                $0.isOrdered = false
                $0.isOptional = false
                $0.maximumCount = 0
                $0.inverseName = nil
            }
        }
        #expect(
            lines(to: model) == [
                "Author.books: inverse author -> none", "Author.books: ordered -> unordered",
                "Author.books: optional -> required", "Author.books: count 0 to 100 -> 0 to any",
            ])
    }

    @Test func anEntityThatChangedTwiceIsListedOnce() {
        let model = Library.editing("Book") { $0.attributes = [] }
        #expect(ModelDifference(from: Library.model, to: model).entityNames == ["Book"])
    }

    private func lines(to model: ManagedObjectModel) -> [String] {
        ModelDifference(from: Library.model, to: model).description.split(separator: "\n").map(String.init)
    }
}
