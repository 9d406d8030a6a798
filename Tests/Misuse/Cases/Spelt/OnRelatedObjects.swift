// error: is unavailable: Related objects are a set. Write insert(tag).
// error: is unavailable: Related objects are a set. Write insert(contentsOf: tags).
// error: is unavailable: Remove each object: for tag in book.tags where tag.isOld { book.tags.remove(tag) }.
// error: is unavailable: Related objects are a set. Sort them: try book.tags.sorted(by: [.ascending(\.name)]).first.
// error: is unavailable: Related objects are a set. Sort them: try book.tags.sorted(by: [.ascending(\.name)])[0].
import CoreDataSource

func edit(_ friends: RelatedObjects<Contact>, _ contact: Contact) {
    friends.append(contact)
    friends.append(contentsOf: [contact])
    friends.removeAll { $0.name == "Cao Cao" }
    print(friends.first?.name ?? "", friends[0].name)
}
