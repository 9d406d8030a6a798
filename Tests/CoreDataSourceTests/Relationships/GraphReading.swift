import CoreDataSource

extension GraphReference {
    /// The graph as a context shows it, each link from the side that stores it; throws what the other side says otherwise.
    init(_ context: ManagedObjectContext) throws {
        for topic in try context.fetch(Topic.self) {
            insert(Name(.topic, topic.key))
            texts["topic \(topic.key)"] = topic.title
        }
        for person in try context.fetch(Person.self) {
            insert(Name(.person, person.key))
            spouse[person.key] = person.spouse?.key
            friends[person.key] = Set(person.friends.map(\.key))
            companions[person.key] = person.companions.map(\.key)
            texts["person \(person.key)"] = person.name
        }
        for letter in try context.fetch(Letter.self) {
            insert(Name(.letter, letter.key))
            texts["letter \(letter.key)"] = letter.subject
            topic[letter.key] = letter.topic?.key
            author[letter.key] = letter.author?.key
            reader[letter.key] = letter.readBy?.key
            place[letter.key] = letter.place?.key
            attached[letter.key] = letter.attachments.map(\.key)
        }
        for label in try context.fetch(Label.self) {
            insert(Name(.label, label.key))
            labeled[label.key] = label.letters.map(\.key)
        }
        for folder in try context.fetch(Folder.self) {
            insert(Name(.folder, folder.key))
            parent[folder.key] = folder.parent?.key
            filed[folder.key] = Set(folder.letters.map(\.key))
        }
        for attachment in try context.fetch(Attachment.self) { insert(Name(.attachment, attachment.key)) }
        for passport in try context.fetch(Passport.self) {
            insert(Name(.passport, passport.key))
            holder[passport.key] = passport.holder?.key
        }
        for cat in try context.fetch(Cat.self) {
            insert(Name(.cat, cat.key))
            texts["cat \(cat.key)"] = cat.name
            keeper["Cat \(cat.key)"] = cat.keeper?.key
        }
        for dog in try context.fetch(Dog.self) {
            insert(Name(.dog, dog.key))
            texts["dog \(dog.key)"] = dog.name
            keeper["Dog \(dog.key)"] = dog.keeper?.key
            chased[dog.key] = dog.chasing.map(GraphReference.name)
        }
        for station in try context.fetch(Station.self) {
            insert(Name(.station, station.key))
            tours[station.key] = station.tours.map(\.key)
        }
        for tour in try context.fetch(Tour.self) {
            insert(Name(.tour, tour.key))
            stops[tour.key] = tour.stops.map(\.key)
            detours[tour.key] = tour.detours.map(\.key)
        }
    }

    /// An animal as "Cat 3".
    private static func name(_ animal: Animal) -> String { "\(animal is Cat ? "Cat" : "Dog") \(animal.key)" }

    /// The same links, seen from the other side.
    static func inverses(_ context: ManagedObjectContext) throws -> [[String: Set<String>]] {
        let persons = try context.fetch(Person.self)
        let letters = try context.fetch(Letter.self)
        func sets<Object: ManagedObject>(
            _ objects: [Object], _ key: (Object) -> String, _ keys: (Object) -> [String]
        ) -> [String: Set<String>] {
            Dictionary(uniqueKeysWithValues: objects.map { (key($0), Set(keys($0))) }).filter { !$0.value.isEmpty }
        }
        return [
            sets(try context.fetch(Topic.self), \.key) { $0.letters.map(\.key) },
            sets(persons, \.key) { $0.letters.map(\.key) },
            sets(persons, \.key) { $0.passport.map { [$0.key] } ?? [] },
            sets(persons, \.key) { $0.animals.map(name) },
            sets(try context.fetch(Station.self), \.key) { $0.letters.map(\.key) },
            sets(letters, \.key) { $0.labels.map(\.key) },
            sets(try context.fetch(Folder.self), \.key) { $0.children.map(\.key) },
            sets(try context.fetch(Attachment.self), \.key) { $0.letter.map { [$0.key] } ?? [] },
        ]
    }

    var inverses: [[String: Set<String>]] {
        func reversed(_ links: [String: String]) -> [String: Set<String>] {
            links.reduce(into: [:]) { $0[$1.value, default: []].insert($1.key) }
        }
        func reversed(_ links: [String: [String]]) -> [String: Set<String>] {
            links.reduce(into: [:]) { sets, link in for end in link.value { sets[end, default: []].insert(link.key) } }
        }
        return [
            reversed(topic), reversed(author), reversed(holder), reversed(keeper), reversed(place), reversed(labeled),
            reversed(parent), reversed(attached),
        ]
    }
}
