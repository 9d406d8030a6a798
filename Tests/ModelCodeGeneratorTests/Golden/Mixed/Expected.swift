// Made by model-codegen from the model Town Library. Change the model, not this file.
// swift-format-ignore-file

package import CoreDataSource

/// The entity `Atlas`.
///
/// The class is yours to write, in this module, with these overrides:
///
///     override class var entityName: String { Atlas.Generated.entityName }
///     override class var attributeKeyPaths: [AnyKeyPath: String] { Atlas.Generated.attributeKeyPaths }
nonisolated extension Atlas {
    /// The names of the entity and its properties, for the overrides of the class.
    package enum Generated {
        package static var entityName: String { "Atlas" }

        package static var attributeKeyPaths: [AnyKeyPath: String] {
            [
                \Atlas.shelf: "shelf", \Atlas.title: "title", \Atlas.pages: "pages", \Atlas.scale: "scale",
            ]
        }
    }

    package var scale: Int32? { get { attribute(at: 3) } set { setAttribute(newValue, at: 3) } }
}

/// The entity `Book`.
///
/// The class is yours to write, in this module, with these overrides:
///
///     override class var entityName: String { Book.Generated.entityName }
///     override class var attributeKeyPaths: [AnyKeyPath: String] { Book.Generated.attributeKeyPaths }
nonisolated extension Book {
    /// The names of the entity and its properties, for the overrides of the class.
    package enum Generated {
        package static var entityName: String { "Book" }

        package static var attributeKeyPaths: [AnyKeyPath: String] {
            [
                \Book.shelf: "shelf", \Book.title: "title", \Book.pages: "pages",
            ]
        }
    }

    package var shelf: String { get { attribute(at: 0) } set { setAttribute(newValue, at: 0) } }
    package var title: String { get { attribute(at: 1) } set { setAttribute(newValue, at: 1) } }
    package var pages: Int32 { get { attribute(at: 2) } set { setAttribute(newValue, at: 2) } }
}

// The entity Branch: its class Branch is written by hand.

/// The entity `Hub`.
nonisolated package class Hub: Branch {
    package override class var entityName: String { "Hub" }

    package override class var attributeKeyPaths: [AnyKeyPath: String] {
        let own: [AnyKeyPath: String] = [
            \Hub.floors: "floors",
        ]
        return super.attributeKeyPaths.merging(own) { $1 }
    }

    package override class var propertyNames: Set<String>? {
        guard entityName == "Hub" else { return nil }
        return [
            "city", "floors",
        ]
    }

    package final var floors: Int16 { get { attribute(at: 1) } set { setAttribute(newValue, at: 1) } }
}

// The entity Item: it has no class of its own.

/// The entity `Record`.
nonisolated package class Disc: ManagedObject {
    package override class var entityName: String { "Record" }

    package override class var attributeKeyPaths: [AnyKeyPath: String] {
        [
            \Disc.shelf: "shelf", \Disc.length: "length",
        ]
    }

    package override class var propertyNames: Set<String>? {
        guard entityName == "Record" else { return nil }
        return [
            "shelf", "length",
        ]
    }

    package final var shelf: String { get { attribute(at: 0) } set { setAttribute(newValue, at: 0) } }
    package final var length: Double { get { attribute(at: 1) } set { setAttribute(newValue, at: 1) } }
}

/// The entity `Reissue`.
nonisolated package class Disc_Reissue: Disc {
    package override class var entityName: String { "Reissue" }

    package override class var attributeKeyPaths: [AnyKeyPath: String] {
        [
            \Disc_Reissue.shelf: "shelf", \Disc_Reissue.length: "length", \Disc_Reissue.year: "year",
        ]
    }

    package override class var propertyNames: Set<String>? {
        guard entityName == "Reissue" else { return nil }
        return [
            "shelf", "length", "year",
        ]
    }

    package final var year: Int16 { get { attribute(at: 2) } set { setAttribute(newValue, at: 2) } }
}

// The entity Untyped: it has no class of its own.

nonisolated extension Atlas {
    /// The fetch request `booksByTitle`: `title == "\(x)"`.
    package static func fetchRequestBooksByTitle2() throws -> ObjectRequest<Atlas> {
        try ObjectRequest(Atlas.self, where: FetchPredicate(format: "title == \"\\(x)\""))
    }

    // The fetch request Open parenthesis has no function: ( in its predicate is not closed.
}

nonisolated extension Book {
    /// The fetch request `books by title`: `title CONTAINS[cd] $title AND (pages > $class OR title == '$no' OR title == $title)`.
    package static func fetchRequestBooksByTitle(title: (any Sendable)?, `class`: (any Sendable)?) throws -> ObjectRequest<Book> {
        try ObjectRequest(Book.self, where: FetchPredicate(format: "title CONTAINS[cd] $title AND (pages > $class OR title == '$no' OR title == $title)").substituting(["title": title, "class": `class`]), limit: 3)
    }
}

nonisolated extension Disc {
    /// The fetch request `All records`: all objects of `Record`.
    package static func fetchRequestAllRecords() -> ObjectRequest<Disc> {
        var request = ObjectRequest(Disc.self)
        request.includesSubentities = false
        return request
    }

    // The fetch request Open quote has no function: a quote in its predicate is not closed.

    // The fetch request Argument has no function: its predicate has a %@ or %K, but only a $VARIABLE can have a value.
}

nonisolated extension ManagedObjectModel {
    /// The model `Town Library` in its version `Town Library 2`.
    package static let townLibrary = ManagedObjectModel(
        name: "Town Library",
        version: "Town Library 2",
        entities: [
            TownLibraryEntities.atlas(),
            TownLibraryEntities.book(),
            TownLibraryEntities.branch(),
            TownLibraryEntities.hub(),
            TownLibraryEntities.item(),
            TownLibraryEntities.record(),
            TownLibraryEntities.reissue(),
            TownLibraryEntities.untyped(),
        ],
        fetchRequests: [
            FetchRequestTemplate(name: "All records", entityName: "Record", includesSubentities: false),
            FetchRequestTemplate(
                name: "books by title",
                entityName: "Book",
                predicateFormat: "title CONTAINS[cd] $title AND (pages > $class OR title == '$no' OR title == $title)",
                fetchLimit: 3),
            FetchRequestTemplate(name: "booksByTitle", entityName: "Atlas", predicateFormat: "title == \"\\(x)\""),
            FetchRequestTemplate(name: "Open quote", entityName: "Record", predicateFormat: "length == 'x"),
            FetchRequestTemplate(name: "Open parenthesis", entityName: "Atlas", predicateFormat: "(scale == 1"),
            FetchRequestTemplate(name: "Argument", entityName: "Record", predicateFormat: "length == %@"),
            FetchRequestTemplate(name: "Of the author's", entityName: "Branch", predicateFormat: "city == 'x'"),
        ],
        classes: townLibraryClasses())
}

/// Lets the library find the model `Town Library` by its name.
nonisolated final class GeneratedModel_Town_20_Library: GeneratedModel {
    static var model: ManagedObjectModel { .townLibrary }
}

/// The class of each entity of `Town Library`.
nonisolated private func townLibraryClasses() -> [String: any AnyObject.Type] {
    ["Atlas": Atlas.self, "Book": Book.self, "Hub": Hub.self, "Record": Disc.self, "Reissue": Disc_Reissue.self]
}

/// The entities of `Town Library`, a function for each.
nonisolated private enum TownLibraryEntities {
    static func atlas() -> EntityDescription {
        EntityDescription(
            name: "Atlas",
            className: "Atlas",
            parentName: "Book",
            attributes: [AttributeDescription(name: "scale", type: .integer32, isOptional: true)],
            codeGeneration: .category)
    }
    static func book() -> EntityDescription {
        EntityDescription(
            name: "Book",
            className: ".Book",
            parentName: "Item",
            attributes: [AttributeDescription(name: "title", type: .string), AttributeDescription(name: "pages", type: .integer32, isOptional: true, usesScalarValueType: true)],
            codeGeneration: .category)
    }
    static func branch() -> EntityDescription {
        EntityDescription(name: "Branch", className: "Library.Branch", attributes: [AttributeDescription(name: "city", type: .string)])
    }
    static func hub() -> EntityDescription {
        EntityDescription(
            name: "Hub",
            className: "Hub",
            parentName: "Branch",
            attributes: [AttributeDescription(name: "floors", type: .integer16, isOptional: true, usesScalarValueType: true)],
            codeGeneration: .class)
    }
    static func item() -> EntityDescription {
        EntityDescription(name: "Item", isAbstract: true, attributes: [AttributeDescription(name: "shelf", type: .string)])
    }
    static func record() -> EntityDescription {
        EntityDescription(
            name: "Record",
            className: "Disc",
            parentName: "Item",
            attributes: [AttributeDescription(name: "length", type: .double, isOptional: true, usesScalarValueType: true)],
            codeGeneration: .class)
    }
    static func reissue() -> EntityDescription {
        EntityDescription(
            name: "Reissue",
            className: "Disc",
            parentName: "Record",
            attributes: [AttributeDescription(name: "year", type: .integer16, usesScalarValueType: true)],
            codeGeneration: .class)
    }
    static func untyped() -> EntityDescription {
        EntityDescription(name: "Untyped", attributes: [AttributeDescription(name: "name", type: .string)])
    }
}
